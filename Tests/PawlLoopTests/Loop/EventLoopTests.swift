import CLinux
import PawlBase
import Testing

@testable import PawlLoop

@Suite("Event loop", .timeLimit(.minutes(1))) struct EventLoopTests {
  @Test("performs work from other threads on its own, in the order of the calls")
  func performsInOrder() throws {
    let (loop, thread) = try EventLoop.startThread(index: 3)
    let seen = Locked<[Int]>([])
    for number in 0..<1000 {
      loop.run {
        loop.preconditionOnLoop()
        seen.withLock { $0.append(number) }
      }
    }
    #expect(!loop.isCurrent)
    loop.stop()
    thread.join()
    #expect(seen.withLock { $0 } == Array(0..<1000))
    #expect(loop.index == 3)
  }

  @Test("loses nothing that several threads give it at once, and keeps each one's order")
  func takesFromSeveralThreads() throws {
    let (loop, thread) = try EventLoop.startThread(index: 0)
    let seen = Locked<[[Int]]>(Array(repeating: [], count: 4))
    var senders: [LoopThread] = []
    for sender in 0..<4 {
      senders.append(
        try LoopThread(name: "sender") {
          for number in 0..<5000 { loop.run { seen.withLock { $0[sender].append(number) } } }
        })
    }
    for sender in senders { sender.join() }
    loop.stop()
    thread.join()
    #expect(seen.withLock { $0 } == Array(repeating: Array(0..<5000), count: 4))
  }

  @Test("lets go of work that comes after its end")
  func dropsLateWork() throws {
    final class Token: Sendable {}
    let (loop, thread) = try EventLoop.startThread(index: 0)
    loop.stop()
    thread.join()
    weak var seen: Token?
    do {
      let token = Token()
      seen = token
      loop.run { withExtendedLifetime(token) { _ = Issue.record("performed after the end") } }
    }
    #expect(seen == nil)
  }

  @Test("lets go of work that was never performed when it goes itself")
  func dropsUnperformedWork() throws {
    final class Token: Sendable {}
    weak var seen: Token?
    do {
      let loop = try EventLoop(index: 0)
      let token = Token()
      seen = token
      loop.run { withExtendedLifetime(token) {} }
    }
    #expect(seen == nil)
  }

  @Test("performs work for the next turn after the callbacks of this one, and what it adds another turn later")
  func nextTurnComesLater() throws {
    let loop = try EventLoop(index: 0)
    nonisolated(unsafe) var steps: [String] = []
    loop.run {
      loop.nextTurn {
        steps.append("later")
        loop.nextTurn { steps.append("latest") }
        loop.run { steps.append("mail") }
      }
      steps.append("first")
    }
    loop.run { steps.append("second") }
    wait(loop) { steps.count == 5 }
    #expect(steps == ["first", "second", "later", "mail", "latest"])
  }

  @Test("asks the clock once a turn")
  func cachesTime() throws {
    let clock = ManualClock(now: Monotonic(nanoseconds: 5), wallSeconds: 100)
    let loop = try EventLoop(index: 0, clock: clock)
    nonisolated(unsafe) var times: [Monotonic] = []
    nonisolated(unsafe) var walls: [Int64] = []
    let note: @Sendable () -> Void = {
      times.append(loop.now)
      walls.append(loop.wallSeconds)
    }
    loop.run(note)
    loop.run {
      clock.advance(by: .seconds(2))
      note()
    }
    wait(loop) { times.count == 2 }
    loop.run(note)
    wait(loop) { times.count == 3 }
    #expect(times.map(\.nanoseconds) == [5, 5, 2_000_000_005])
    #expect(walls == [100, 100, 102])
    #expect(loop.now.nanoseconds == 2_000_000_005)
  }

  @Test("lends its read buffer whole, to a nested call another one, and gets it back")
  func lendsReadBuffer() throws {
    struct Broken: Error {}
    let loop = try EventLoop(index: 0)
    loop.withReadBuffer { outer in
      #expect(outer.count == 256 << 10)
      loop.withReadBuffer { inner in
        #expect(inner.count == 256 << 10)
        #expect(inner.baseAddress != outer.baseAddress)
      }
    }
    #expect(throws: Broken.self) { try loop.withReadBuffer { _ throws(Broken) in throw Broken() } }
    var taken = loop.takeReadBuffer()
    taken[0] = 7
    let other = loop.takeReadBuffer()
    #expect(taken.count == 256 << 10 && other.count == 256 << 10 && other[0] != 7)
    loop.giveReadBuffer(taken)
    #expect(loop.takeReadBuffer()[0] == 7)
  }
}
