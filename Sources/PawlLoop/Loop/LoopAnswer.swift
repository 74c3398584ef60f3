import CLinux
import PawlBase

extension EventLoop {
  /// Performs `work` on the loop and waits for what it says. Blocking, from a thread that turns no loop.
  /// - Returns: `nil` when the loop has ended, or ends before it comes to it.
  package func answer<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) -> Answer? {
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, CInt(O_CLOEXEC)) == 0 else { return nil }
    let ear = OwnedDescriptor(adopting: ends[0])
    let answer = Locked<Answer?>(nil)
    perform(work, into: answer, holding: HeldDescriptor(ends[1]))
    var byte: UInt8 = 0
    while read(ear.raw, &byte, 1) < 0, pawl_errno() == EINTR {}
    return answer.withLock { $0 }
  }

  /// The other end of the pipe goes with the work: performed or dropped, it is closed after it.
  private func perform<Answer: Sendable>(
    _ work: @escaping @Sendable () -> Answer, into answer: Locked<Answer?>, holding end: HeldDescriptor
  ) {
    run {
      let said = work()
      answer.withLock { $0 = said }
      withExtendedLifetime(end) {}
    }
  }
}

/// A descriptor that a closure can hold.
private final class HeldDescriptor: Sendable {
  private let descriptor: OwnedDescriptor
  init(_ raw: CInt) { descriptor = OwnedDescriptor(adopting: raw) }
}
