import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlServer
@testable import PawlUpstream

@Suite("Failures of upstreams") struct OriginFailureLogTests {
  @Test("an origin that refuses is told of at once, with the node and what is done, and then once a minute")
  func refused() throws {
    let port = ScriptedOrigin.closedPort()
    let pawl = try TestServer(url: "http://127.0.0.1:\(port)")
    for _ in 0..<3 { #expect(pawl.get().status == 502) }
    let line =
      "warning upstream-failed upstream=app node=http://127.0.0.1:\(port) kind=refused "
      + "why=\"127.0.0.1:\(port): connection refused\" request=r next=\"502 to the client\" omitted="
    #expect(pawl.events("upstream-failed") == [line + "0"])
    pawl.clock.advance(by: .seconds(60))
    #expect(pawl.get().status == 502)
    pawl.waitFor("upstream-failed", count: 2)
    // The reply to a client leaves before the failure is logged, so the third one may be the one that is due.
    let second = pawl.events("upstream-failed")[1]
    #expect(second == line + "1" || second == line + "2")
  }

  @Test("a response that is none, and one that breaks off, are told of")
  func broken() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("nonsense\r\n\r\n"), .readToEnd],
      [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nCache-Control: no-store\r\n\r\nhalf")])
    let pawl = try TestServer(origin) { $0.upstream = "resume-attempts = 0" }
    #expect(pawl.get().status == 502)
    _ = pawl.get()
    pawl.waitFor("upstream-failed", count: 2)
    let lines = pawl.events("upstream-failed").map { $0.replacing("\(origin.port)", with: "PORT") }
    #expect(lines[0].contains("kind=bad-response") && lines[0].hasSuffix("next=\"502 to the client\" omitted=0"))
    #expect(lines[1].contains("kind=closed why=\"closed after 4 bytes of content\""))
    #expect(lines[1].hasSuffix("next=\"gives up: http_response_incomplete, attemptsExhausted\" omitted=0"))
    pawl.stop()
  }

  @Test("a streak of server errors, and its end, are told of")
  func serverErrors() throws {
    let lines = TestLock<[String]>([])
    let events = EventLog { line in lines.withLock { $0.append(String(line.dropFirst(25))) } }
    let log = OriginFailureLog(upstream: "app", nodes: ["http://a"], events: events, clock: ManualClock())
    log.note(ServerErrorNews(url: 0, status: 503, count: 5, isOver: false))
    log.note(ServerErrorNews(url: 0, status: 200, count: 9, isOver: true))
    log.note(ServerErrorNews(url: 1, status: 500, count: 5, isOver: false))
    events.flush()
    #expect(
      lines.withLock { $0 } == [
        "warning upstream-errors upstream=app node=http://a count=5 status=503",
        "notice upstream-errors-ended upstream=app node=http://a count=9",
        "warning upstream-errors upstream=app node=- count=5 status=500",
      ])
  }
}
