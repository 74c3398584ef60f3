import PawlBase
import PawlLoop
import PawlObserve
import PawlUploadStore

/// The deliveries that go on in this process after another one has taken over its spools. Each step of theirs is recorded by that
/// process before it counts here, so there is one writer of a catalogue. Steps wait until it is known which process that is: the new
/// one, or this one again (``BorrowedDeliveries``) if the new one fails before it serves. Any thread.
final class LentDeliveries: UploadLender {
  /// The most deliveries that are lent. While more run, an upgrade waits.
  static let limit = 1024
  /// The time for which an upgrade waits for all deliveries, before it lends those that still run.
  static let patience = Duration.seconds(2)

  private enum Receiver {
    case unknown
    case process(EventLoop, LoopBound<ProcessLine>)
    case here(BorrowedDeliveries)
    /// The process that has the spools has ended.
    case lost
  }

  private struct State {
    var receiver = Receiver.unknown
    /// What is sent once the receiver is known.
    var waiting: [LentMessage] = []
    /// The steps without a reply, by number.
    var unanswered: [UInt64: @Sendable (Bool) -> Void] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Locked(State())

  // MARK: - Steps

  func record(_ step: LentStep, then: @escaping @Sendable (Bool) -> Void) {
    let number = state.withLock { state -> UInt64? in
      if case .lost = state.receiver { return nil }
      state.lastNumber += 1
      state.unanswered[state.lastNumber] = then
      return state.lastNumber
    }
    guard let number else { return then(false) }
    send(.step(number, step))
  }

  func noteDelivered(_ id: UploadID) { send(.delivered(id)) }

  private func send(_ message: LentMessage) {
    let here = state.withLock { state -> BorrowedDeliveries? in
      switch state.receiver {
      case .unknown: state.waiting.append(message)
      // Within the lock, so that messages are sent in this order.
      case .process(let loop, let line): loop.run { line.get().send(message.serialize()) }
      case .here(let borrowed): return borrowed
      case .lost: break
      }
      return nil
    }
    if let here { pass(message, to: here) }
  }

  private func pass(_ message: LentMessage, to borrowed: BorrowedDeliveries) {
    borrowed.take(message) { [weak self] in self?.recorded($0, $1) }
  }

  private func recorded(_ number: UInt64, _ isRecorded: Bool) {
    state.withLock { $0.unanswered.removeValue(forKey: number) }?(isRecorded)
  }

  // MARK: - The receiver

  /// Has the steps recorded by the process at the other end of this socket.
  /// - Parameter lost: called on the loop, once, if that process ends before this one.
  func connect(_ descriptor: CInt, on loop: EventLoop, lost: @escaping @Sendable () -> Void) {
    loop.run { [self] in
      let line = ProcessLine(
        descriptor, on: loop,
        received: { [weak self] in
          guard case .recorded(let number, let isRecorded)? = LentMessage(serialized: $0) else { return }
          self?.recorded(number, isRecorded)
        },
        ended: { [weak self] in
          let unanswered = self?.lose() ?? []
          // First the deliveries are cut, so that none takes the missing record for a failure of its own.
          lost()
          for then in unanswered { then(false) }
        })
      let bound = LoopBound(line, on: loop)
      let waiting = use(.process(loop, bound))
      for message in waiting { line.send(message.serialize()) }
      line.start()
    }
  }

  /// Has the steps recorded by this process, which has opened the spools again.
  func connect(_ borrowed: BorrowedDeliveries) {
    for message in use(.here(borrowed)) { pass(message, to: borrowed) }
  }

  private func use(_ receiver: Receiver) -> [LentMessage] {
    state.withLock { state in
      defer { state.waiting = [] }
      state.receiver = receiver
      return state.waiting
    }
  }

  /// Sends nothing more.
  /// - Returns: what is to be told that its step is not recorded.
  private func lose() -> [@Sendable (Bool) -> Void] {
    state.withLock { state in
      defer { state.unanswered = [:] }
      state.receiver = .lost
      return Array(state.unanswered.values)
    }
  }
}
