import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("A thread of load", .timeLimit(.minutes(1))) struct WorkerTests {
  private static let exchange: [OriginStep] = [.expect(Performing.request), .send(Performing.answer("a"))]

  @Test("in an open loop latencies count from when the operation was due, not from when it could begin")
  func openLoop() throws {
    var settings = try Performing.settings(.hit)
    settings.rate = 1
    let server = ScriptedOrigin(.tcp, Self.exchange + Self.exchange + Self.exchange + [.expectEnd])
    // Due 100, 99 and 98 seconds ago, as after a server that stood still for so long.
    let tally = try Performing.run(
      settings, server, reference: Array("a".utf8), operations: 3, dueSince: 100_000_000_000)
    #expect(server.finish() == [] && tally.completed == 3)
    #expect(tally.latency.slowest >= 99_900_000)
    #expect(tally.latency.quantile(0) >= 97_900_000)
    #expect(tally.firstByte.quantile(0) >= 97_900_000)
    #expect(tally.backlog >= 97)
  }

  @Test("in a closed loop they count from when the request was sent")
  func closedLoop() throws {
    let server = ScriptedOrigin(.tcp, Self.exchange + Self.exchange + [.expectEnd])
    let tally = try Performing.run(
      Performing.settings(.hit), server, reference: Array("a".utf8), operations: 2, dueSince: 100_000_000_000)
    #expect(server.finish() == [] && tally.completed == 2 && tally.latency.slowest < 60_000_000)
  }

  @Test("all connections are used, and no more operations begin than there are to be")
  func spreads() throws {
    let script = Self.exchange + [OriginStep.readToEnd]
    let server = ScriptedOrigin(.tcp, script, script, script)
    let tally = try Performing.run(
      Performing.settings(.hit, connections: 3), server, reference: Array("a".utf8), operations: 3)
    #expect(server.finish() == [] && tally.completed == 3 && tally.connections == 3 && tally.exchanges == 3)
  }

  @Test("idle lanes take turns")
  func turns() throws {
    let loop = try EventLoop(index: 0)
    let settings = try Performing.settings(.idle)
    let address = try #require(SocketAddress.parse("127.0.0.1:1"))
    let worker = Worker(
      loop, index: 0, settings: settings, server: ServerPlace(address: address), reference: nil, body: nil,
      exhausted: {})
    let lanes = (0..<20).map { _ in Lane(worker, IdleScript(RequestMaker(settings))) }
    var idle = IdleLanes()
    #expect(idle.isEmpty && idle.pop() == nil)
    for lane in lanes { idle.push(lane) }
    for lane in lanes + lanes {
      let next = idle.pop()
      #expect(next === lane)
      idle.push(lane)
    }
    #expect(!idle.isEmpty)
  }

  @Test("numbers are the same for the same seed, and others for another thread")
  func random() {
    var (a, b) = (RandomNumbers(seed: 1, stream: 0), RandomNumbers(seed: 1, stream: 0))
    var c = RandomNumbers(seed: 1, stream: 1)
    let first = (0..<100).map { _ in a.next(below: 1000) }
    #expect(first == (0..<100).map { _ in b.next(below: 1000) })
    #expect(first != (0..<100).map { _ in c.next(below: 1000) })
    #expect(first.allSatisfy { $0 < 1000 } && Set(first).count > 50 && a.next(below: 1) == 0)
  }
}
