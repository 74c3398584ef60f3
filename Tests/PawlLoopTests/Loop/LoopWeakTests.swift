import PawlLoop
import Testing

@Suite("References to a loop's objects from elsewhere") struct LoopWeakTests {
  private final class Counter {
    var count = 0
  }

  @Test func runsOnTheLoopWhileTheObjectLives() throws {
    let loop = try EventLoop(index: 0)
    let counter = Counter()
    let reference = LoopWeak(counter, on: loop)
    reference.run { $0.count += 1 }
    loop.turn { counter.count == 0 }
    #expect(counter.count == 1)
  }

  @Test func doesNotKeepTheObject() throws {
    let loop = try EventLoop(index: 0)
    var counter: Counter? = Counter()
    weak let observed = counter
    let reference = counter.map { LoopWeak($0, on: loop) }
    counter = nil
    #expect(observed == nil)
    reference?.run { _ in Issue.record("the object is gone") }
    var hasTurned = false
    loop.nextTurn { hasTurned = true }
    loop.turn { !hasTurned }
  }
}
