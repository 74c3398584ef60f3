import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("How long an exchange waits (RFC 9209 §2.3)") struct OriginExchangePatienceTests {
  private static let length = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"

  /// What the origin sends before it falls silent, how long pawl bears that, and what it says then.
  static let silences: [(String, Duration, [String])] = [
    ("", .seconds(900), ["broke http_response_timeout before the head"]),
    ("HTTP/1.1 103 Hints\r\n\r\n", .seconds(900), ["interim 103", "broke http_response_timeout before the head"]),
    ("HTTP/1.1 200", .seconds(60), ["broke connection_read_timeout before the head"]),
    (length, .seconds(60), ["head 200 length(50)", "broke connection_read_timeout"]),
    (length + "half", .seconds(60), ["head 200 length(50)", "body half", "broke connection_read_timeout"]),
  ]

  @Test("silence ends it after the time set, not before", arguments: silences.indices, [true, false])
  func silence(_ index: Int, isWhole: Bool) throws {
    let (wire, limit, story) = Self.silences[index]
    let clock = ManualClock()
    let sent = Gate()
    let waker = TestLock<EventLoop?>(nil)
    let origin = ScriptedOrigin(
      .unix,
      [
        .expectHead, isWhole ? .send(wire) : .sendEachByte(wire), .open(sent),
        .run { waker.withLock { $0 }?.run {} }, .readToEnd,
      ])
    let bench = try Bench(origin, clock: clock)
    waker.withLock { $0 = bench.loop }
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    bench.turn { sent.isOpen }
    for _ in 0..<3 { bench.turnOnce() }
    clock.advance(by: limit - .milliseconds(1))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(!recorder.isOver)
    clock.advance(by: .milliseconds(1))
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected"] + story)
    #expect(bench.upstream.connectionCount == 0)
    #expect(origin.finish() == [])
  }

  @Test("every byte grants the time anew")
  func progress() throws {
    let clock = ManualClock()
    let gates = (0..<3).map { _ in Gate() }
    let pieces = gates.flatMap { [OriginStep.wait($0), .send("x")] }
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")] + pieces + [.readToEnd])
    let bench = try Bench(origin, clock: clock)
    let recorder = ExchangeRecorder()
    bench.start(.get(), recorder)
    bench.turn { recorder.heads.count == 1 }
    for (index, gate) in gates.enumerated() {
      clock.advance(by: .seconds(59))
      bench.turnOnce()
      gate.open()
      bench.turn { recorder.body.count == index + 1 }
    }
    #expect(recorder.story == ["connected", "head 200 length(3)", "body xxx", "ended"])
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("a paused reader's time is not the origin's")
  func paused() throws {
    let clock = ManualClock()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(okay), .readToEnd])
    let bench = try Bench(origin, clock: clock)
    let recorder = ExchangeRecorder()
    recorder.react = { event, exchange in
      if case .head = event { exchange.pause() }
    }
    let exchange = bench.start(.get(), recorder)
    bench.turn { recorder.heads.count == 1 }
    clock.advance(by: .seconds(3600))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(recorder.story == ["connected", "head 200 length(2)"])
    exchange.resume()
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "head 200 length(2)", "body ok", "ended"])
    bench.pool.closeIdle()
    #expect(origin.finish() == [])
  }

  @Test("an origin that takes nothing of the request ends it; a sender that gives nothing does not")
  func writing() throws {
    let clock = ManualClock()
    let end = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(end)])
    let bench = try Bench(origin, clock: clock)
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.request(.put, "/", .length(1 << 30)), recorder)
    bench.turn { recorder.story == ["connected"] }
    clock.advance(by: .seconds(3600))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(!recorder.isOver)
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    while piece.withUnsafeBytes({ exchange.sendBody($0) }) {}
    clock.advance(by: .seconds(60))
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "broke connection_write_timeout before the head"])
    end.open()
    #expect(origin.finish() == [])
  }

  @Test("the answer's time begins when the request is complete")
  func responseTime() throws {
    let clock = ManualClock()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let bench = try Bench(origin, clock: clock)
    let recorder = ExchangeRecorder()
    let exchange = bench.start(.request(.put, "/", .length(4)), recorder)
    bench.turn { recorder.story == ["connected"] }
    clock.advance(by: .seconds(3600))
    bench.turnOnce()
    exchange.send("done")
    exchange.finishBody()
    clock.advance(by: .seconds(899))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(!recorder.isOver)
    clock.advance(by: .seconds(1))
    bench.turn { recorder.isOver }
    #expect(recorder.story == ["connected", "broke http_response_timeout before the head"])
    #expect(origin.finish() == [])
  }

  @Test("the clock of a connection that is used again begins anew, and stands still while it is idle")
  func reused() throws {
    let clock = ManualClock()
    let second = Gate()
    let answer = OriginStep.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    let origin = ScriptedOrigin(.tcp, [.expectHead, answer, .expectHead, .open(second), .readToEnd])
    let bench = try Bench(origin, clock: clock) { $0.keepalive = .seconds(100_000) }
    let (first, later) = (ExchangeRecorder(), ExchangeRecorder())
    bench.start(.get(), first)
    bench.turn { first.isOver }
    clock.advance(by: .seconds(5000))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(bench.pool.idleCount == 1)
    bench.start(.get(), later)
    bench.turn(untilOpen: second)
    clock.advance(by: .seconds(900) - .milliseconds(1))
    for _ in 0..<3 { bench.turnOnce() }
    #expect(!later.isOver)
    clock.advance(by: .milliseconds(1))
    bench.turn { later.isOver }
    #expect(later.story == ["connected", "broke http_response_timeout before the head"])
    #expect(origin.finish() == [])
  }
}
