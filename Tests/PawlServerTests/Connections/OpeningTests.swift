import PawlTestKit
import Testing

@testable import PawlServer

@Suite("PROXY protocol before requests in clear") struct OpeningTests {
  private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  private func makeServer(_ trusted: String = "127.0.0.1") throws -> (ScriptedOrigin, TestServer) {
    let origin = ScriptedOrigin(scripts: [[OriginStep]](repeating: [.answerAll(Self.answer)], count: 4))
    let pawl = try TestServer(origin) {
      $0.pawl = "trusted-proxies = \(trusted)"
      $0.listen = "proxy-protocol = on"
      $0.site = "cache = off"
    }
    return (origin, pawl)
  }

  /// What the origin was told of the client: for, proto and port.
  private func told(_ origin: ScriptedOrigin) -> [String] {
    let lines = String(decoding: origin.received.joined(), as: UTF8.self).split(separator: "\r\n")
    return ["X-Forwarded-For: ", "X-Forwarded-Proto: ", "X-Forwarded-Port: "].map { name in
      lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) } ?? ""
    }
  }

  private static let v2: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
  private static let block: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 2, 0x12, 0x67, 0x01, 0xbb]
  private static let block6: [UInt8] =
    [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 9, count: 16) + [
      0, 9, 0x20, 0xfb,
    ]
  private static let mapped: [UInt8] =
    [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 203, 0, 113, 9] + [UInt8](repeating: 9, count: 16) + [0, 9, 0, 80]

  /// The header, and what the origin then hears; PORT is the listener's own.
  static let rows: [([UInt8], [String])] = [
    (Array("PROXY TCP4 203.0.113.7 192.0.2.2 4711 443\r\n".utf8), ["203.0.113.7", "http", "443"]),
    (Array("PROXY TCP6 2001:db8::7 ::1 4711 8443\r\n".utf8), ["2001:db8::7", "http", "8443"]),
    (Array("PROXY UNKNOWN\r\n".utf8), ["127.0.0.1", "http", "PORT"]),
    (v2 + [0x21, 0x11, 0, 12] + block, ["203.0.113.7", "http", "443"]),
    (v2 + [0x21, 0x21, 0, 36] + block6, ["2001:db8::1", "http", "8443"]),
    (v2 + [0x21, 0x21, 0, 36] + mapped, ["203.0.113.9", "http", "80"]),
    (v2 + [0x20, 0, 0, 0], ["127.0.0.1", "http", "PORT"]), (v2 + [0x21, 0, 0, 0], ["127.0.0.1", "http", "PORT"]),
    (v2 + [0x21, 0x11, 0, 20] + block + [0x20, 0, 5, 1, 0, 0, 0, 0], ["203.0.113.7", "https", "443"]),
    (v2 + [0x21, 0x31, 0, 216] + [UInt8](repeating: 0, count: 216), ["unknown", "http", "PORT"]),
  ]

  @Test("the client that a trusted proxy names is the client, however the bytes come", arguments: rows)
  func named(_ row: ([UInt8], [String])) throws {
    for pieces in [[row.0 + Array(TestServer.request().utf8)], (row.0 + Array(TestServer.request().utf8)).map { [$0] }]
    {
      let (origin, pawl) = try makeServer()
      let client = pawl.connect()
      for piece in pieces { client.send(piece) }
      let expected = row.1.map { $0 == "PORT" ? "\(pawl.port)" : $0 }
      #expect(client.readAnswer().text == "ok")
      #expect(told(origin) == expected)
      #expect(pawl.record(1, "remote") == [expected[0] == "unknown" ? "-" : expected[0]])
      client.close()
      #expect(pawl.stop() == [])
    }
  }

  @Test("a client's own X-Forwarded-For is believed only when the client named is trusted itself")
  func trust() throws {
    let rows: [(trusted: String, header: String, told: String)] = [
      ("127.0.0.1", "PROXY TCP4 203.0.113.7 192.0.2.2 4711 443", "203.0.113.7"),
      ("127.0.0.1, 203.0.113.0/24", "PROXY TCP4 203.0.113.7 192.0.2.2 4711 443", "198.51.100.1, 203.0.113.7"),
      ("127.0.0.1", "PROXY UNKNOWN", "127.0.0.1"),
    ]
    for row in rows {
      let (origin, pawl) = try makeServer(row.trusted)
      let client = pawl.connect()
      client.send("\(row.header)\r\n" + TestServer.request("/f", ["X-Forwarded-For: 198.51.100.1"]))
      #expect(client.readAnswer().text == "ok")
      #expect(told(origin)[0] == row.told)
      client.close()
      #expect(pawl.stop() == [])
    }
  }

  @Test("whoever is not trusted may not say a word, and fills no log")
  func stranger() throws {
    let (origin, pawl) = try makeServer("192.0.2.1")
    for _ in 0..<EventBudget.lines + 5 {
      let client = pawl.connect()
      #expect(client.readToEnd().bytes == [])
    }
    let line = "warning proxy-protocol-refused client=127.0.0.1 why=\"the peer is not among trusted-proxies\""
    #expect(pawl.events("proxy-protocol-refused") == [String](repeating: line, count: EventBudget.lines))
    pawl.clock.advance(by: EventBudget.stretch)
    pawl.settle()
    _ = pawl.connect().readToEnd()
    #expect(pawl.events("proxy-protocol-refused").last == line + " omitted=5")
    #expect(origin.acceptedCount == 0)
    #expect(pawl.onLoop { $0.connections.members.count } == 0)
    #expect(pawl.stop() == [])
  }

  @Test("what is no header ends the connection without an answer")
  func malformed() throws {
    let (_, pawl) = try makeServer()
    for bytes in [
      Array("GET / HTTP/1.1\r\nHost: site\r\n\r\n".utf8), Self.v2 + [0x31], Array("PROXY TCP4 a\r\n".utf8),
    ] {
      let client = pawl.connect()
      client.send(bytes)
      #expect(client.readToEnd().bytes == [])
    }
    #expect(pawl.events("proxy-protocol-refused").count == 3)
    #expect(pawl.stop() == [])
  }

  @Test("a header that does not come to its end ends with header-timeout, and soon when the server drains")
  func ends() throws {
    let (_, pawl) = try makeServer()
    let (slow, idle) = (pawl.connect(), pawl.connect())
    slow.send("PROXY TCP4 203.0.113.7")
    pawl.waitUntil("both are there") { pawl.onLoop { $0.connections.members.count } == 2 }
    pawl.clock.advance(by: .seconds(14))
    pawl.settle()
    #expect(slow.isQuiet && idle.isQuiet)
    pawl.clock.advance(by: .seconds(1))
    #expect(slow.readToEnd().bytes == [])
    #expect(idle.readToEnd().bytes == [])
    let last = pawl.connect()
    pawl.waitUntil("it is there") { pawl.onLoop { $0.connections.members.count } == 1 }
    let drained = Gate()
    pawl.server.drain { drained.open() }
    pawl.settle()
    #expect(last.isQuiet)
    pawl.clock.advance(by: LoopConnections.endGrace)
    #expect(last.readToEnd().bytes == [])
    #expect(drained.wait())
    #expect(pawl.stop() == [])
  }
}
