import PawlLoop
import PawlTestKit
import PawlWire
import Testing

@testable import PawlServer

@Suite("A WebSocket over HTTP/2 (RFC 8441)") struct HTTP2TunnelTests {
  private static let fields = [
    (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/chat"), (":authority", "site"),
    ("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat"), ("x-request-id", "r"),
  ]

  /// An origin that accepts as RFC 6455 asks, then plays the rest.
  private func accepting(_ rest: [OriginStep], accept: String? = nil) -> ScriptedOrigin {
    ScriptedOrigin(.tcp, [.expectHead, .sendMade { Self.switching($0, accept) }] + rest)
  }

  private static func switching(_ head: [UInt8], _ accept: String?) -> [UInt8] {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let key = lines.first { $0.lowercased().hasPrefix("sec-websocket-key: ") }?.dropFirst(19) ?? ""
    let right = WebSocketHandshake.accept(for: Array(key.utf8))
    return Array(
      ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: chat\r\n"
        + "Sec-WebSocket-Accept: \(accept ?? String(decoding: right, as: UTF8.self))\r\n\r\n").utf8)
  }

  private func open(_ pawl: TestServer) -> (HTTP2Client, Int32) {
    let client = HTTP2Client(pawl)
    client.readSettings()
    return (client, client.openRaw(Self.fields, ends: false))
  }

  @Test("bytes go both ways as they come; the ends go over, each by itself")
  func bothWays() throws {
    let origin = accepting([.send("hello"), .expect("early more"), .send("world"), .expectEnd])
    let pawl = try TestServer(origin)
    let (client, stream) = open(pawl)
    client.data(Array("early".utf8), on: stream)
    client.read { client.answers[stream]?.text == "hello" }
    #expect(
      client.answers[stream]?.shown == """
        :status: 200
        sec-websocket-protocol: chat
        date: \(today)
        via: 1.1 pawl
        """)
    client.data(Array(" more".utf8), on: stream)
    client.read { client.answers[stream]?.text == "helloworld" }
    client.data([], on: stream, ends: true)
    #expect(client.answer(stream).isWhole && client.answers[stream]?.resetCode == nil)
    #expect(pawl.record(1, "status", "bytes", "target") == ["200", "10", "/chat"])
    client.socket.close()
    #expect(pawl.stop() == [])
    let sent = String(decoding: origin.received[0], as: UTF8.self)
    #expect(sent.hasPrefix("GET /chat HTTP/1.1\r\nHost: site\r\n"))
    for line in [
      "Connection: upgrade", "Upgrade: websocket", "sec-websocket-protocol: chat", "sec-websocket-version: 13",
    ] {
      #expect(sent.contains("\r\n\(line)\r\n"), "\(line)")
    }
  }

  @Test("a slow client slows the origin, a slow origin the client")
  func backpressure() throws {
    let origin = accepting([.sendPatternUntilStuck(upTo: 64 << 20)])
    let pawl = try TestServer(origin)
    let (client, stream) = open(pawl)
    client.givesCredit = false
    pawl.waitUntil("the origin is stuck") { origin.patternSent > 0 }
    let sent = origin.patternSent
    #expect(sent < 16 << 20)
    client.credit(1 << 26)
    client.credit(1 << 26, on: stream)
    client.read { (client.answers[stream]?.content.count ?? 0) >= sent }
    #expect(client.answers[stream]?.content == OriginStep.pattern(from: 0, count: sent))
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a side that breaks resets the other")
  func breaks() throws {
    let gate = Gate()
    let origin = accepting([.send("a"), .wait(gate), .reset])
    let pawl = try TestServer(origin)
    let (client, stream) = open(pawl)
    client.read { client.answers[stream]?.text == "a" }
    gate.open()
    let answer = client.answer(stream)
    #expect(answer.resetCode == 8 && !answer.isWhole)
    #expect(pawl.record(1, "status", "ended_by") == ["200", "origin"])
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("a refusal goes through; an answer that is none in HTTP/1.1 must not look like one here")
  func refused() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), .expectHead,
        .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .readToEnd,
      ])
    let pawl = try TestServer(origin)
    let (client, stream) = open(pawl)
    client.read { client.answers[stream]?.isWhole == true }
    #expect(client.answers[stream]?.status == 403 && client.answers[stream]?.text == "no")
    let second = client.openRaw(Self.fields, ends: false)
    client.read { client.answers[second]?.isWhole == true }
    #expect(client.answers[second]?.status == 502)
    #expect(client.answers[second]?["proxy-status"]?.contains("http_upgrade_failed; received-status=200") == true)
    client.socket.close()
    #expect(pawl.stop() == [])
  }

  @Test("an origin that accepts somebody else's key has accepted nothing")
  func wrongKey() throws {
    let origin = accepting([.readToEnd], accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    let pawl = try TestServer(origin)
    let (client, stream) = open(pawl)
    #expect(client.answer(stream).status == 502)
    client.socket.close()
    #expect(pawl.stop() == [])
  }
}
