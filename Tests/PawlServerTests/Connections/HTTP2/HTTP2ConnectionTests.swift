import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A client's connection that speaks HTTP/2") struct HTTP2ConnectionTests {
  private static let answer = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nok"

  @Test("begins by prior knowledge, in any pieces, and answers as HTTP/1.1 would", arguments: Fragmenter.allCases)
  func pieces(_ fragmenter: Fragmenter) throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl, fragmenter: fragmenter)
    for _ in 0..<2 {
      let answer = client.answer(client.open("GET /f", [], fragmenter))
      #expect(
        answer.shown == """
          :status: 200
          cache-control: no-store
          cache-status: pawl; fwd=uri-miss; fwd-status=200
          date: \(today)
          via: 1.1 pawl
          content-length: 2
          """)
      #expect(answer.text == "ok" && answer.isWhole)
    }
    client.socket.close()
    #expect(pawl.record(2, "status", "bytes", "target") == ["200", "2", "/f"])
    #expect(pawl.accessLog[1].contains("HTTP/2.0"))
    #expect(pawl.stop() == [])
  }

  @Test("a listener without HTTP/2 refuses the preface, as it refuses what looks like it elsewhere")
  func notAllowed() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1") { $0.listen = "http2 = off" }
    let client = pawl.connect()
    client.send(HTTP2Client.preface)
    #expect(client.readAnswer().status == 505)
    let taking = try TestServer(url: "http://127.0.0.1:1")
    let other = taking.connect()
    other.send("PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n")
    #expect(other.readAnswer().status == 505)
  }

  @Test("HTTP/1.1 goes on beside it where the first bytes only begin alike")
  func beginsAlike() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send("PR")
    pawl.settle()
    client.send("OPFIND /f HTTP/1.1\r\nHost: site\r\n\r\n")
    #expect(client.readAnswer().text == "ok")
    client.close()
    #expect(pawl.stop() == [])
  }

  @Test("a hundred streams at once are each answered with their own")
  func hundred() throws {
    // Connections are used again, and not more than 64 are open at once.
    let origin = ScriptedOrigin(.tcp, scripts: (0..<100).map { _ in [.answerAll(Self.answer)] })
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let streams = (0..<100).map { client.open("GET /\($0)") }
    for stream in streams { #expect(client.answer(stream).text == "ok") }
    #expect(client.goAway == nil)
    client.socket.close()
    _ = pawl.record(100, "status")
    #expect(pawl.stop() == [])
  }

  @Test("two large answers take turns, and small requests do not wait for their end")
  func turns() throws {
    let size = 4 << 20
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(size)\r\n\r\n"),
        .sendPattern(count: size), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    #expect(pawl.get().content.count == size)
    let client = HTTP2Client(pawl, settings: [(4, 0x7fff_ffff)])
    client.credit(0x7fff_0000)
    client.readSettings()
    client.givesCredit = false
    // In one write: both have come before either is answered.
    let (first, second) = (1, 3) as (Int32, Int32)
    let fields = HTTP2Client.block(HTTP2Client.requestFields("GET /f", []))
    client.socket.send([first, second].flatMap { HTTP2Client.frame(.headers, 5, $0, fields) })
    client.skipStreams(2)
    client.read { client.answers[second]?.content.count ?? 0 > 100_000 }
    #expect(client.answers[first]?.isOver == false)
    let small = client.open("GET /f", [("range", "bytes=0-9")])
    client.read { client.answers[small]?.isOver == true }
    #expect(client.answer(first).content == OriginStep.pattern(from: 0, count: size))
    #expect(client.answer(second).content.count == size)
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("of requests that were reset before they were looked at the origin hears nothing")
  func resetAtOnce() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let fields = HTTP2Client.block(HTTP2Client.requestFields("POST /reset", []))
    let bytes = (0..<50).flatMap { index in
      let stream = Int32(1 + 2 * index)
      return HTTP2Client.frame(.headers, 4, stream, fields)
        + HTTP2Client.frame(.rstStream, 0, stream, HTTP2Client.bytes(8 as UInt32))
    }
    client.socket.send(bytes)
    client.skipStreams(50)
    #expect(client.get().text == "ok")
    #expect(origin.acceptedCount == 1)
    #expect(!String(decoding: origin.received[0], as: UTF8.self).contains("/reset"))
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a flood ends its connection and says why; the server goes on for others")
  func flood() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let ping = HTTP2Client.frame(.ping, 0, 0, [UInt8](repeating: 0, count: 8))
    for _ in 0..<100 where !client.socket.send((0..<100).flatMap { _ in ping }) { break }
    _ = client.readToEnd()
    #expect(client.goAway == 11)
    pawl.waitFor("http2-ended")
    #expect(pawl.events("http2-ended")[0].contains("ping-flood"))
    #expect(pawl.get().text == "ok")
    #expect(pawl.stop() == [])
  }

  @Test("a breach of the protocol ends the connection; what was going on is logged as the client's")
  func breach() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .open(gate), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    client.open("POST /f")
    gate.wait()
    client.send(.data, 0, on: 0, [1])
    #expect(client.readToEnd() == .inOrder)
    #expect(client.goAway == 1)
    #expect(pawl.record(1, "ended_by", "end_reason") == ["client", "protocol-error"])
    #expect(pawl.stop() == [])
  }

  @Test("an idle connection ends after keepalive-timeout, one without a request after header-timeout")
  func idle() throws {
    // Its own connection to the origin is not kept as long.
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)], [.answerAll(Self.answer)])
    let pawl = try TestServer(origin) { $0.listen = "keepalive-timeout = 40s\nheader-timeout = 5s" }
    let silent = HTTP2Client(pawl)
    silent.readSettings()
    pawl.settle()
    pawl.clock.advance(by: .seconds(5))
    #expect(silent.readToEnd() == .inOrder)
    #expect(silent.goAway == 0)
    let client = HTTP2Client(pawl)
    client.readSettings()
    _ = client.get()
    pawl.settle()
    pawl.clock.advance(by: .seconds(39))
    pawl.settle()
    #expect(client.get().text == "ok")
    pawl.settle()
    pawl.clock.advance(by: .seconds(40))
    #expect(client.readToEnd() == .inOrder)
    #expect(client.goAway == 0)
    #expect(pawl.stop() == [])
  }

  @Test("a draining server refuses new streams and ends with the last one")
  func drain() throws {
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .wait(gate), .send(Self.answer), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    let stream = client.open("GET /f")
    pawl.waitUntil("it has begun") { origin.received.first?.isEmpty == false }
    pawl.onLoop { $0.drain() }
    client.read { client.goAway != nil }
    gate.open()
    #expect(client.answer(stream).text == "ok")
    #expect(client.readToEnd() == .inOrder)
    #expect(pawl.stop() == [])
  }

  @Test("an idle connection whose client does nothing holds a draining server for two seconds at most")
  func drainIdle() throws {
    let origin = ScriptedOrigin(.tcp, [.answerAll(Self.answer)])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    client.readSettings()
    #expect(client.get().text == "ok")
    pawl.onLoop { $0.drain() }
    // It answers nothing: the last word comes after a second, and a second later its end.
    pawl.settle()
    pawl.clock.advance(by: .seconds(1))
    pawl.settle()
    #expect(pawl.onLoop { $0.connections.members.count } == 1)
    pawl.clock.advance(by: .seconds(1))
    pawl.waitUntil("it is closed") { pawl.onLoop { $0.connections.members.count } == 0 }
    #expect(client.readToEnd() == .inOrder)
    #expect(client.goAway == 0)
    #expect(pawl.stop() == [])
  }

  @Test("who speaks neither version in clear is not answered; what HTTP/1 knows in any way is")
  func neither() throws {
    let pawl = try TestServer(url: "http://127.0.0.1:1")
    let stranger = pawl.connect()
    stranger.send("INVALID CONNECTION PREFACE\r\n\r\n")
    #expect(stranger.readToEnd() == ([], .inOrder))
    for line in [
      "GET /f", "GET /f HTTP/1.x", "GET /a b HTTP/1.1", "A\u{1}B C", "GET /f http/1.1", "GET /f ", "GET /f ICY/1.1",
    ] {
      let client = pawl.connect()
      client.send("\(line)\r\n\r\n")
      #expect(client.readAnswer().status == 400, "\(line)")
    }
    let off = try TestServer(url: "http://127.0.0.1:1") { $0.listen = "http2 = off" }
    let client = off.connect()
    client.send("INVALID CONNECTION PREFACE\r\n\r\n")
    #expect(client.readAnswer().status == 400)
  }

  @Test("a client that takes nothing is given up after send-timeout")
  func stuck() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 268435456\r\n\r\n"),
        .sendPatternUntilStuck(upTo: 256 << 20),
      ])
    let pawl = try TestServer(origin) { $0.listen = "send-timeout = 30s" }
    let client = HTTP2Client(pawl, settings: [(4, 0x7fff_ffff)], receiveBuffer: 4096)
    client.credit(0x7fff_0000)
    client.readSettings()
    client.open("GET /f")
    pawl.waitUntil("the origin is stuck") { origin.patternSent > 0 }
    #expect(origin.patternSent < 16 << 20)
    pawl.settle()
    pawl.clock.advance(by: .seconds(30))
    #expect(pawl.record(1, "ended_by", "end_reason") == ["client", "send-timeout"])
    #expect(pawl.stop() == [])
  }
}
