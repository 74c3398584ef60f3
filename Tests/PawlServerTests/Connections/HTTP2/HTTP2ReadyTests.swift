import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The shortest way to an answer over HTTP/2") struct HTTP2ReadyTests {
  private static let fields = [
    "Cache-Control: max-age=60\r\n", "Cache-Control: max-age=60\r\nETag: \"v\"\r\nVary: Accept-Encoding\r\n",
    "Cache-Control: max-age=60\r\nDate: Tue, 14 Nov 2023 22:13:10 GMT\r\nAge: 5\r\nVia: 1.0 x\r\nCache-Status: x; hit\r\nX-Mixed: A\r\n",
  ]

  /// A pawl that has `body` in memory, whose origin answers once.
  private func serving(_ fields: String = fields[0], _ body: String = "hello", listen: String = "") throws -> TestServer
  {
    let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(head + body), .readToEnd])
    let pawl = try TestServer(origin) { ($0.cache, $0.listen) = ("memory-object = 64K", listen) }
    _ = pawl.get()
    _ = pawl.get()
    pawl.waitForBodyInMemory()
    return pawl
  }

  /// Answers that are sent on the short way at this moment.
  private func ready(_ pawl: TestServer) -> Int? {
    pawl.onLoop { loop in
      loop.connections.members.all.compactMap { ($0 as? HTTP2Connection)?.session.readyCount }.reduce(0, +)
    }
  }

  /// The log's lines without what is another each time.
  private func lines(_ pawl: TestServer, from first: Int, _ count: Int) -> [String] {
    _ = pawl.record(first + count, "status")
    return pawl.accessLog[first...].map { line in
      line.split(separator: ",").filter { !$0.contains("\"duration") && !$0.contains("\"time") }.joined(separator: ",")
    }
  }

  @Test("gives the answer, and the line in the log, that the long way gives", arguments: fields)
  func same(_ fields: String) throws {
    let pawl = try serving(fields)
    pawl.clock.advance(by: .seconds(3))
    let client = HTTP2Client(pawl)
    let both = [("user-agent", "tests"), ("referer", "http://elsewhere/?a=b"), ("accept", "*/*")]
    let short = client.answer(client.open("GET /f", both))
    // `TE` asks for nothing, and is not plain.
    let long = client.answer(client.open("GET /f", both + [("te", "trailers")]))
    #expect(short.fields.map { "\($0): \($1)" }.sorted() == long.fields.map { "\($0): \($1)" }.sorted())
    #expect(short.text == "hello" && long.text == "hello" && short["age"] != nil && short.isWhole)
    let own = client.openRaw(
      [(":method", "GET"), (":scheme", "http"), (":authority", "site"), (":path", "/f")], ends: true)
    #expect(client.answer(own)["x-request-id"]?.utf8.count == 32 && client.answer(own).text == "hello")
    // Lists keep their order.
    for name in ["via", "cache-status"] {
      #expect(short.fields.filter { $0.0 == name }.map(\.1) == long.fields.filter { $0.0 == name }.map(\.1))
    }
    let log = lines(pawl, from: 2, 3).prefix(2)
    #expect(log.count == 2 && log.first == log.last)
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("is taken while the answer waits for its window, whose size it keeps to")
  func windows() throws {
    let pawl = try serving(Self.fields[0], String(repeating: "b", count: 40_000))
    let client = HTTP2Client(pawl, settings: [(4, 10)])
    client.givesCredit = false
    let streams = (0..<3).map { _ in client.open("GET /f") }
    client.read { streams.allSatisfy { client.answers[$0]?.content.count == 10 } }
    #expect(ready(pawl) == 3)
    for stream in streams { client.credit(39_990, on: stream) }
    // The connection's own window ends it next.
    client.read { streams.reduce(0) { $0 + (client.answers[$1]?.content.count ?? 0) } == 65_535 }
    client.credit(1 << 20)
    for stream in streams { #expect(client.answer(stream).content.count == 40_000) }
    #expect(pawl.record(5, "status", "bytes", "target") == ["200", "40000", "/f"])
    #expect(ready(pawl) == 0)
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("one that the client resets is logged as far as it went; others go on")
  func reset() throws {
    let pawl = try serving()
    let client = HTTP2Client(pawl, settings: [(4, 2)])
    client.givesCredit = false
    let stream = client.open("GET /f")
    client.read { client.answers[stream]?.content.count == 2 }
    client.reset(stream)
    #expect(pawl.record(3, "status", "bytes", "ended_by", "end_reason") == ["200", "2", "client", "reset"])
    let other = client.open("GET /f")
    client.credit(10, on: other)
    #expect(client.answer(other).text == "hello")
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("many that are reset at once are a flood, as on the long way")
  func flood() throws {
    let pawl = try serving()
    let client = HTTP2Client(pawl, settings: [(4, 0)])
    client.readSettings()
    let fields = HTTP2Client.block(HTTP2Client.requestFields("GET /f", []))
    for stream in stride(from: 1 as Int32, to: 2001, by: 2) {
      let bytes =
        HTTP2Client.frame(.headers, 5, stream, fields)
        + HTTP2Client.frame(.rstStream, 0, stream, HTTP2Client.bytes(8 as UInt32))
      guard client.socket.send(bytes) else { break }
    }
    _ = client.readToEnd()
    #expect(client.goAway == 11)
    pawl.waitFor("http2-ended")
    #expect(pawl.events("http2-ended")[0].contains("reset-flood"))
    #expect(pawl.stop() == [])
  }

  @Test("a client that gives no credit is cut after send-timeout")
  func stuck() throws {
    let pawl = try serving(listen: "send-timeout = 30s\nkeepalive-timeout = 10m")
    let client = HTTP2Client(pawl, settings: [(4, 2)])
    client.givesCredit = false
    let stream = client.open("GET /f")
    client.read { client.answers[stream]?.content.count == 2 }
    for _ in 0..<3 {
      pawl.settle()
      pawl.clock.advance(by: .seconds(30))
    }
    #expect(pawl.record(3, "bytes", "ended_by", "end_reason") == ["2", "client", "send-timeout"])
    let cut = try #require(pawl.events("transfer-cut").first)
    #expect(cut.contains("target=/f") && cut.contains("sent=2") && cut.contains("why=send-timeout"))
    client.read { client.answers[stream]?.resetCode != nil }
    #expect(client.answers[stream]?.resetCode == 8)
    let other = client.open("GET /f")
    client.credit(10, on: other)
    #expect(client.answer(other).text == "hello")
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a connection on which nothing else was asked is idle when they are answered")
  func idle() throws {
    let pawl = try serving(listen: "keepalive-timeout = 40s\nheader-timeout = 5s")
    let client = HTTP2Client(pawl)
    client.readSettings()
    for _ in 0..<2 {
      #expect(client.get().text == "hello")
      pawl.settle()
      pawl.clock.advance(by: .seconds(15))
    }
    pawl.settle()
    #expect(client.get().text == "hello")
    pawl.settle()
    pawl.clock.advance(by: .seconds(40))
    #expect(client.readToEnd() == .inOrder)
    #expect(client.goAway == 0)
    #expect(pawl.stop() == [])
  }

  @Test("a draining server sends them to their end, and waits no longer than for any other")
  func drain() throws {
    let pawl = try serving()
    let client = HTTP2Client(pawl, settings: [(4, 2)])
    client.givesCredit = false
    let stream = client.open("GET /f")
    client.read { client.answers[stream]?.content.count == 2 }
    pawl.onLoop { $0.drain() }
    client.read { client.goAway != nil }
    client.credit(10, on: stream)
    #expect(client.answer(stream).text == "hello")
    #expect(client.readToEnd() == .inOrder)
    #expect(pawl.stop() == [])
  }

  @Test("when the time for draining is over, or the client leaves, what is unsent is cut and logged")
  func ends() throws {
    let pawl = try serving()
    let client = HTTP2Client(pawl, settings: [(4, 2)])
    client.givesCredit = false
    let stream = client.open("GET /f")
    client.read { client.answers[stream]?.content.count == 2 }
    let leaving = HTTP2Client(pawl, settings: [(4, 3)])
    leaving.givesCredit = false
    let lost = leaving.open("GET /f")
    leaving.read { leaving.answers[lost]?.content.count == 3 }
    leaving.socket.close()
    #expect(pawl.record(3, "bytes", "ended_by", "end_reason") == ["3", "client", "closed"])
    pawl.onLoop { $0.abandon() }
    #expect(pawl.record(4, "bytes", "ended_by", "end_reason") == ["2", "pawl", "shutdown"])
    client.read { client.answers[stream]?.resetCode != nil }
    #expect(client.answers[stream]?.resetCode == 2)
    #expect(pawl.stop() == [])
  }

  @Test("is not taken for what is stale")
  func fresh() throws {
    let pawl = try TestServer.fresh(for: 5)
    let client = HTTP2Client(pawl)
    #expect(client.get().text == "1")
    pawl.clock.advance(by: .seconds(5))
    #expect(client.get().text == "2")
    client.socket.close()
    #expect(pawl.stop() == [])
  }
}
