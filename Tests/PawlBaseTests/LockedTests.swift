import CLinux
import PawlLoop
import Testing

@testable import PawlBase

@Suite("Locked value", .timeLimit(.minutes(1))) struct LockedTests {
  @Test("a locked value counts right from several threads")
  func locks() throws {
    let count = Locked(0)
    var threads: [LoopThread] = []
    for _ in 0..<4 {
      threads.append(try LoopThread(name: "counter") { for _ in 0..<10_000 { count.withLock { $0 += 1 } } })
    }
    for thread in threads { thread.join() }
    threads[0].join()
    #expect(count.withLock { $0 } == 40_000)
  }

  @Test("taking an optional empties it before its content is let go of")
  func takes() {
    final class Token {
      var onEnd: () -> Void = {}
      deinit { onEnd() }
    }
    var held: Token? = Token()
    var wasEmpty = false
    held?.onEnd = { wasEmpty = held == nil }
    _ = take(&held)
    #expect(wasEmpty)
  }
}
