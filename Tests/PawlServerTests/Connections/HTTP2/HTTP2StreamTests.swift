import PawlLoop
import PawlTestKit
import PawlWire
import Testing

@testable import PawlServer

@Suite("A request over HTTP/2") struct HTTP2StreamTests {
  private static func plain(_ text: String, _ status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nCache-Control: no-store\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
  }

  private func sent(_ origin: ScriptedOrigin, _ connection: Int = 0) -> String {
    let received = origin.received
    return received.indices.contains(connection)
      ? String(decoding: received[connection].prefix(1024), as: UTF8.self) : ""
  }

  /// The content of a chunked message.
  private func dechunked(_ message: [UInt8]) -> [UInt8] {
    var decoder = BodyDecoder(.chunked)
    guard var start = message.indices.first(where: { message[$0...].starts(with: [13, 10, 13, 10]) }) else { return [] }
    start += 4
    var content: [UInt8] = []
    while true {
      switch decoder.next(message, start..<message.count) {
      case .data(let piece, let consumed):
        content += message[piece]
        start += consumed
      case .end: return content
      case .needMore, .malformed: return []
      }
    }
  }

  // MARK: - Downloads

  @Test("a stored file comes whole and by range, however large")
  func download() throws {
    let size = 3 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(size)\r\n\r\n"),
        .sendPattern(count: size), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let whole = client.get()
    #expect(whole.status == 200 && whole.isWhole && whole["content-length"] == "\(size)")
    #expect(whole.content == OriginStep.pattern(from: 0, count: size))
    let tag = try #require(whole["etag"])
    let part = client.get("/f", ("range", "bytes=1000000-2999999"), ("if-range", tag))
    #expect(part.status == 206 && part["content-range"] == "bytes 1000000-2999999/\(size)")
    #expect(part.content == OriginStep.pattern(from: 1_000_000, count: 2_000_000))
    let head = client.answer(client.open("HEAD /f"))
    #expect(head.status == 200 && head["content-length"] == "\(size)" && head.content.isEmpty && head.isWhole)
    let same = client.get("/f", ("if-none-match", tag))
    #expect(same.status == 304 && same.content.isEmpty && same.isWhole && same["content-length"] == nil)
    client.socket.close()
    #expect(pawl.record(2, "status", "bytes", "bytes_from_cache") == ["206", "2000000", "2000000"])
    #expect(pawl.stop() == [])
    #expect(origin.acceptedCount == 1)
  }

  @Test("an origin that breaks off is not noticed where the rest can be had")
  func resumed() throws {
    let size = 1 << 20
    // pawl asks for a little of what it has again, and compares.
    let from = 262_144 - 4096
    let head = "Cache-Control: max-age=60\r\nETag: \"v\"\r\nAccept-Ranges: bytes\r\n"
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\n\(head)Content-Length: \(size)\r\n\r\n"), .sendPattern(count: 262_144),
      ],
      [
        .expectHead,
        .send(
          "HTTP/1.1 206 Partial Content\r\n\(head)Content-Range: bytes \(from)-\(size - 1)/\(size)\r\n"
            + "Content-Length: \(size - from)\r\n\r\n"),
        .sendPattern(from: UInt64(from), count: size - from), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let answer = client.get()
    #expect(answer.isWhole && answer.content == OriginStep.pattern(from: 0, count: size))
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("an answer that cannot be finished is reset, never ended in order; other streams go on")
  func brokenOff() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")],
      [.expectHead, .send(Self.plain("ok")), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let answer = client.answer(client.open("POST /f"))
    #expect(answer.status == 200 && !answer.isWhole && answer.resetCode == 2)
    #expect(answer.text == "01234")
    #expect(pawl.record(1, "ended_by") == ["origin"])
    #expect(client.answer(client.open("POST /g")).text == "ok")
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("interim answers come before the final one, and only that ends the stream")
  func interim() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 103 Early Hints\r\nLink: </s>\r\nConnection: x\r\n\r\n" + Self.plain("ok")),
        .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let answer = client.answer(client.open("POST /f"))
    #expect(answer.interim.map { $0.map { "\($0.0): \($0.1)" } } == [[":status: 103", "link: </s>"]])
    #expect(answer.status == 200 && answer.text == "ok")
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a client that gives no credit stops its own stream: others go on, and after send-timeout it is reset")
  func noCredit() throws {
    let size = 1 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(size)\r\n\r\n"),
        .sendPattern(count: size), .readToEnd,
      ])
    let pawl = try TestServer(origin) { $0.listen = "send-timeout = 30s" }
    #expect(pawl.get().content.count == size)
    let client = HTTP2Client(pawl, settings: [(4, 1000)])
    client.credit(1 << 24)
    client.givesCredit = false
    let stuck = client.open("GET /f")
    client.read { client.answers[stuck]?.content.count == 1000 }
    let small = client.get("/f", ("range", "bytes=0-9"))
    #expect(small.isWhole && small.content.count == 10)
    pawl.settle()
    pawl.clock.advance(by: .seconds(31))
    pawl.settle()
    let answer = client.answer(stuck)
    #expect(answer.resetCode == 8 && answer.content == OriginStep.pattern(from: 0, count: 1000))
    #expect(client.get("/f", ("range", "bytes=5-9")).isWhole)
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a client that resets a stream has left: its record says so, and the origin's connection is not kept waiting")
  func clientResets() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234"), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let stream = client.open("POST /f")
    client.read { client.answers[stream]?.text == "01234" }
    client.reset(stream)
    #expect(pawl.record(1, "ended_by", "end_reason", "bytes") == ["client", "reset", "5"])
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  // MARK: - Refusals

  @Test("a head beyond its limits is answered with 431 on its stream; at the limit it is taken")
  func tooManyFields() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.plain("ok"))])
    let pawl = try TestServer(origin) { $0.listen = "max-header-fields = 8" }
    let client = HTTP2Client(pawl)
    // One more is the test's own.
    let fields = (0..<8).map { ("x-\($0)", "v") }
    let refused = client.answer(client.open("POST /f", fields))
    #expect(refused.status == 431 && refused["proxy-status"]?.hasPrefix("pawl; error=http_request_error") == true)
    #expect(refused["date"] == today)
    #expect(client.answer(client.open("POST /f", Array(fields.dropLast()))).text == "ok")
    #expect(pawl.record(1, "status", "end_reason") == ["431", "refused"])
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("CONNECT is for WebSocket alone", arguments: [[(":protocol", "connect-udp")], []])
  func connect(_ fields: [(String, String)]) throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.openRaw(
      [(":method", "CONNECT"), (":authority", "site")]
        + (fields.isEmpty ? [] : [(":scheme", "http"), (":path", "/")] + fields), ends: false)
    let answer = client.answer(stream)
    #expect([405, 501].contains(answer.status), "\(answer.status)")
    #expect(pawl.stop() == [])
  }

  // MARK: - Content of requests

  @Test("content reaches the origin as it was sent, with its length or in chunks", arguments: [true, false])
  func content(_ hasLength: Bool) throws {
    let size = 2_500_000
    let pattern = OriginStep.pattern(from: 0, count: size)
    let origin = ScriptedOrigin(
      .tcp,
      [.expectHead]
        + (hasLength ? [.expect(pattern)] : [.readUntil("0\r\n\r\n")]) + [.send(Self.plain("got")), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("PUT /f", hasLength ? [("content-length", "\(size)")] : [], ends: false)
    #expect(client.upload(pattern, on: stream))
    let answer = client.answer(stream)
    #expect(answer.text == "got" && answer.isWhole)
    client.socket.close()
    #expect(pawl.stop() == [])
    if !hasLength { #expect(dechunked(origin.received[0]) == pattern) }
    #expect(sent(origin).contains(hasLength ? "Content-Length: \(size)\r\n" : "Transfer-Encoding: chunked\r\n"))
    #expect(sent(origin).contains("Via: 2.0 pawl\r\n") && sent(origin).contains("Host: site\r\n"))
  }

  @Test("an empty frame that ends the request makes it one without content")
  func emptyEnd() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.plain("ok"))])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let fields = HTTP2Client.block(HTTP2Client.requestFields("GET /f", []))
    client.skipStreams(1)
    client.socket.send(HTTP2Client.frame(.headers, 4, 1, fields) + HTTP2Client.frame(.data, 1, 1, []))
    #expect(client.answer(1).text == "ok")
    client.socket.close()
    #expect(pawl.stop() == [])
    #expect(!sent(origin).contains("chunked"))
  }

  @Test("an announced nothing reaches the origin when its stream has ended, and never where content came")
  func endOfNothing() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.plain("ok"))], [.answerAll(Self.plain("ok"))])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let (good, bad) = (
      client.open("POST /f", [("content-length", "0")], ends: false),
      client.open("POST /g", [("content-length", "0")], ends: false)
    )
    // What came before this was read.
    #expect(client.get().text == "ok")
    #expect(origin.acceptedCount == 1 && !sent(origin).contains("POST"))
    client.data([1], on: bad)
    #expect(client.answer(bad).resetCode == 1 && client.answer(bad).status == 0)
    client.data([], on: good, ends: true)
    #expect(client.answer(good).text == "ok" && client.answer(good).isWhole)
    client.socket.close()
    #expect(pawl.stop() == [])
    #expect(sent(origin).contains("POST /f HTTP/1.1\r\n") && sent(origin).contains("Content-Length: 0\r\n"))
    #expect(!sent(origin).contains("POST /g"))
  }

  @Test("an announced nothing that does not end has as long as a head; then 408")
  func nothingWithoutEnd() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.plain("ok"))])
    let pawl = try TestServer(origin) { $0.listen = "header-timeout = 20s" }
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("POST /f", [("content-length", "0")], ends: false)
    #expect(client.get().text == "ok")
    pawl.clock.advance(by: .seconds(21))
    #expect(client.answer(stream).status == 408)
    client.socket.close()
    #expect(pawl.stop() == [])
    #expect(!sent(origin).contains("POST"))
  }

  @Test("the last byte of an announced length goes with the stream's end, and never where more came")
  func lastByte() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .expect("hell"), .readToEnd],
      [.expectHead, .expect("hello"), .send(Self.plain("got")), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "request-buffering = off" }
    let client = HTTP2Client(pawl)
    client.readSettings()
    let bad = client.open("PUT /f", [("content-length", "5")], ends: false)
    client.data(Array("hello".utf8), on: bad)
    pawl.waitUntil("the origin has the rest") { sent(origin).hasSuffix("\r\n\r\nhell") }
    client.data([0x21], on: bad)
    #expect(client.answer(bad).resetCode == 1)
    let good = client.open("PUT /f", [("content-length", "5")], ends: false)
    client.data(Array("hello".utf8), on: good)
    pawl.waitUntil("the origin has all but the last byte") { sent(origin, 1).hasSuffix("\r\n\r\nhell") }
    client.data([], on: good, ends: true)
    #expect(client.answer(good).text == "got")
    client.socket.close()
    #expect(pawl.stop() == [])
    #expect(sent(origin).hasSuffix("\r\n\r\nhell"))
  }

  @Test("a slow origin slows its client, by credit, and no other stream")
  func backpressure() throws {
    let gate = Gate()
    let size = 6 << 20
    let pattern = OriginStep.pattern(from: 0, count: size)
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .wait(gate), .expect(pattern), .send(Self.plain("got")), .readToEnd],
      [.answerAll(Self.plain("ok"))])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("PUT /f", [("content-length", "\(size)")], ends: false)
    // As much as the window of the stream takes, several times what one socket does.
    var given = 0
    while given < size, client.windows[stream, default: 0] >= 16_384, client.connectionWindow >= 16_384 {
      client.data(Array(pattern[given..<(given + 16_384)]), on: stream)
      given += 16_384
      pawl.settle()
      while !client.socket.isQuiet { guard client.step() else { break } }
    }
    #expect(given < size)
    #expect(client.answer(client.open("POST /other")).text == "ok")
    gate.open()
    #expect(client.upload(Array(pattern[given...]), on: stream))
    #expect(client.answer(stream).text == "got")
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("an answer before the request's end stands, and the client is told to stop sending")
  func earlyAnswer() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(Self.plain("no", "403 Forbidden")), .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "request-buffering = off" }
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("PUT /f", [("content-length", "100000000")], ends: false)
    client.data([UInt8](repeating: 1, count: 1000), on: stream)
    client.read { client.answers[stream]?.isWhole == true }
    // It has a second to read that.
    pawl.settle()
    while !client.socket.isQuiet, client.step() {}
    #expect(client.answers[stream]?.resetCode == nil)
    pawl.clock.advance(by: .seconds(1))
    client.read { client.answers[stream]?.resetCode != nil }
    let answer = client.answer(stream)
    #expect(answer.status == 403 && answer.text == "no" && answer.isWhole && answer.resetCode == 0)
    client.socket.close()
    #expect(pawl.record(1, "status", "ended_by") == ["403", "done"])
    #expect(pawl.stop() == [])
  }

  @Test("content slower than min-rate: 408, and the rest is not wanted")
  func minRate() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd])
    let pawl = try TestServer(origin) { $0.site = "min-rate = 1024/60s\nrequest-buffering = off" }
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("PUT /f", [("content-length", "5000000")], ends: false)
    client.data([UInt8](repeating: 1, count: 1024), on: stream)
    pawl.waitUntil("the origin has it") { (origin.received.first?.count ?? 0) > 1024 }
    pawl.clock.advance(by: .seconds(60))
    pawl.settle()
    client.data([UInt8](repeating: 1, count: 1023), on: stream)
    pawl.settle()
    pawl.clock.advance(by: .seconds(60))
    let answer = client.answer(stream)
    #expect(answer.status == 408)
    #expect(pawl.record(1, "status", "end_reason") == ["408", "min-rate"])
    client.socket.close()
    #expect(pawl.stop() == [])
  }
}
