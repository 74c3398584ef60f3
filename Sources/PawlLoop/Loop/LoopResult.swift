import CLinux
import PawlBase

extension EventLoop {
  /// Performs `work` on the loop, waits for its result and returns it. Blocks. Call this from a thread that runs no loop.
  /// - Returns: `nil` if the loop has ended, or ends before it performs `work`.
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

  /// Sends `work` to the loop together with the write end of the pipe. The write end is closed after the work was performed or
  /// dropped. This wakes the waiting thread.
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
