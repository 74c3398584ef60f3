import CLinux
import Testing

@testable import PawlLoop

@Suite("Value bound to a loop", .timeLimit(.minutes(1))) struct LoopBoundTests {
  @Test("a value bound to it is had on the loop")
  func bindsValues() throws {
    final class Owned { var count = 1 }
    let loop = try EventLoop(index: 0)
    let bound = LoopBound(Owned(), on: loop)
    nonisolated(unsafe) var count = 0
    loop.run { count = bound.get().count }
    wait(loop) { count == 1 }
  }
}
