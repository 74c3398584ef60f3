import CLinux
import PawlBase
import Testing

@testable import PawlLoop

@Suite("Worker pool", .timeLimit(.minutes(1))) struct WorkerPoolTests {
  @Test("performs off the loop, and completes on it")
  func completesOnLoop() throws {
    let loop = try EventLoop(index: 0)
    let pool = WorkerPool(threads: 2)
    nonisolated(unsafe) var results: [Int] = []
    loop.run {
      for number in 0..<100 {
        pool.run({ loop.isCurrent ? -1 : number * number }, then: loop) { result in
          loop.preconditionOnLoop()
          results.append(result)
        }
      }
    }
    wait(loop) { results.count == 100 }
    #expect(results.sorted() == (0..<100).map { $0 * $0 })
    pool.stop()
  }

  @Test("stopped, it finishes what is queued and takes nothing more")
  func finishesAtStop() throws {
    let pool = WorkerPool(threads: 2)
    let gate = Gate()
    let count = Locked(0)
    for _ in 0..<5000 {
      pool.run {
        gate.wait()
        count.withLock { $0 += 1 }
      }
    }
    let stopper = try LoopThread(name: "stopper") { pool.stop() }
    gate.open()
    stopper.join()
    #expect(count.withLock { $0 } == 5000)
    #expect(!pool.run { count.withLock { $0 += 1 } })
    let loop = try EventLoop(index: 0)
    #expect(!pool.run({ 1 }, then: loop) { _ in Issue.record("completed after the stop") })
    pool.stop()
    #expect(count.withLock { $0 } == 5000)
  }

  @Test("works on as many things at once as it has threads")
  func worksAtOnce() throws {
    let pool = WorkerPool(threads: 3)
    let gates = [Gate(), Gate(), Gate()]
    // Each opens the next one's gate and waits for its own: only three at once get through.
    for index in 0..<3 {
      pool.run {
        gates[(index + 1) % 3].open()
        gates[index].wait()
      }
    }
    pool.stop()
  }

  @Test("what a completion holds is let go of on the loop")
  func releasesOnLoop() throws {
    final class Token {
      let loop: EventLoop
      let released: Locked<[Bool]>
      init(_ loop: EventLoop, _ released: Locked<[Bool]>) { (self.loop, self.released) = (loop, released) }
      deinit {
        let isCurrent = loop.isCurrent
        released.withLock { $0.append(isCurrent) }
      }
    }
    let (loop, thread) = try EventLoop.startThread(index: 0)
    let pool = WorkerPool(threads: 2)
    let released = Locked<[Bool]>([])
    loop.run {
      for _ in 0..<500 {
        let token = Token(loop, released)
        pool.run({ 1 }, then: loop) { _ in withExtendedLifetime(token) {} }
      }
    }
    let isQueued = Gate()
    loop.run { isQueued.open() }
    isQueued.wait()
    pool.stop()
    loop.stop()
    thread.join()
    #expect(released.withLock { $0 } == Array(repeating: true, count: 500))
  }
}
