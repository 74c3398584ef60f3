import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("Answers that last as long as somebody listens") struct OriginExchangeLiveTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\n"

  @Test("may be silent for any time, and hold no place; their connection carries nothing else")
  func silent() throws {
    let clock = ManualClock()
    let (sent, goOn) = (Gate(), Gate())
    let origin = ScriptedOrigin(
      .unix, [.expectHead, .send(Self.head + "data:"), .open(sent), .wait(goOn), .send("  a\n"), .expectEnd])
    let bench = try Bench(origin, clock: clock) { $0.maxConnections = 1 }
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    bench.turn { recorder.story.count == 3 }
    #expect(bench.upstream.connectionCount == 0 && bench.upstream.liveCount == 1)
    clock.advance(by: .seconds(100_000))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(!recorder.isOver)
    goOn.open()
    bench.turn { recorder.isOver }
    #expect(recorder.story.last == "ended" && bench.pool.idleCount == 0)
    #expect(bench.upstream.connectionCount == 0 && bench.upstream.liveCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("beyond max-live-connections one more fails before its head is told, and gives its place back")
  func limit() throws {
    let origin = ScriptedOrigin(.unix, [.expectHead, .send(Self.head + "data:"), .expectEnd])
    let bench = try Bench(origin) { $0.maxLiveConnections = 0 }
    #expect(bench.run(.get()).story == ["connected", "broke connection_limit_reached before the head"])
    #expect(bench.upstream.connectionCount == 0 && bench.upstream.liveCount == 0)
    #expect(origin.finish() == [])
  }
}
