import CXXHash

/// A group of readers that request the same cold body at the same time, and the next body when all of them have received the last
/// one.
final class FillGroup {
  fileprivate var number: UInt64
  fileprivate var round = 0
  private let readers: Int
  private let step: UInt64
  private var finished = 0
  private var waiting: [FillScript] = []
  /// The length and digest that the first reader of this body received.
  fileprivate var found: (count: UInt64, digest: UInt64)?

  /// - Parameter step: the distance between the numbers of successive bodies of this group.
  init(first: UInt64, step: UInt64, readers: Int) {
    (number, self.step, self.readers) = (first, step, readers)
  }

  fileprivate func wait(_ script: FillScript) { waiting.append(script) }

  fileprivate func oneFinished() {
    finished += 1
    guard finished == readers else { return }
    (finished, round, found) = (0, round + 1, nil)
    number += step
    let ready = waiting
    waiting = []
    for script in ready { script.goOn() }
  }
}

/// One reader of a group. It requests complete bodies that were not requested before. It compares them with the reference or, if
/// there is none, with the bodies that the other readers of the group received.
final class FillScript: Script {
  private let maker: RequestMaker
  private let group: FillGroup
  private let reference: Reference?
  private let worker: Worker
  private weak var lane: Lane?
  private var round = 0
  private var offset: UInt64 = 0
  private let hash: OpaquePointer?

  init(_ worker: Worker, _ maker: RequestMaker, _ group: FillGroup) {
    (self.worker, self.maker, self.group) = (worker, maker, group)
    reference = worker.settings.comparesContent ? worker.reference : nil
    hash = XXH3_createState()
  }

  deinit { XXH3_freeState(hash) }

  func attached(_ lane: Lane) { self.lane = lane }

  func begin() -> RequestText? {
    guard round == group.round else {
      group.wait(self)
      return nil
    }
    round += 1
    offset = 0
    if reference == nil { XXH3_64bits_reset(hash) }
    let request = maker.make(path: maker.path(number: group.number))
    request.finish()
    return request
  }

  fileprivate func goOn() { if let lane { worker.proceed(lane) } }

  func head(_ head: AnswerHead, _ bytes: Span<UInt8>) -> Verdict {
    guard head.status == 200 else { return .failed(.status(head.status)) }
    if let length = head.length, let reference, length != reference.count { return .failed(.length) }
    return .goOn
  }

  func content(_ bytes: UnsafeBufferPointer<UInt8>) -> Verdict {
    if let reference {
      guard reference.matches(bytes, at: offset) else { return .failed(.content) }
      worker.tally.verified += UInt64(bytes.count)
    } else {
      XXH3_64bits_update(hash, bytes.baseAddress, bytes.count)
    }
    offset += UInt64(bytes.count)
    return .goOn
  }

  func ended() -> Outcome {
    if let reference { return offset == reference.count ? .done : .failed(.length) }
    let digest = XXH3_64bits_digest(hash)
    guard let found = group.found else {
      group.found = (offset, digest)
      return .done
    }
    guard found.count == offset else { return .failed(.length) }
    guard found.digest == digest else { return .failed(.content) }
    worker.tally.verified += offset
    return .done
  }

  func over() { group.oneFinished() }
}
