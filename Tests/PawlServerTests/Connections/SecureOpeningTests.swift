import PawlTestKit
import Testing

@testable import PawlServer

@Suite("TLS before requests") struct SecureOpeningTests {
  @Test("a handshake leads to HTTP/1.1, however its bytes come; origin and log are told", arguments: [false, true])
  func handshake(isBytewise: Bool) throws {
    let server = try SecureServer()
    let client = server.pawl.connect()
    #expect(client.secure(TLSOffer("a.example"), isBytewise: isBytewise) == nil)
    #expect(client.handshake?.applicationProtocol == "http/1.1")
    client.send(SecureServer.request())
    #expect(client.readAnswer().text == "ok")
    #expect(server.told("X-Forwarded-Proto") == ["https"])
    #expect(server.told("X-Forwarded-Port") == ["\(server.pawl.port)"])
    #expect(server.pawl.record(1, "tls", "client_subject") == ["TLSv1.3", "null"])
    #expect(server.pawl.server.urls == ["https://127.0.0.1:\(server.pawl.port)"])
    client.close()
    #expect(server.pawl.stop() == [])
  }

  @Test("the name that the client asks for decides what it is shown: exactly, by wildcard, else the first")
  func names() throws {
    let server = try SecureServer()
    let rows: [(String?, TestCertificate)] = [
      ("a.example", server.a), ("b.example", server.b), ("x.wild.example", server.a), ("c.example", server.a),
      (nil, server.a),
    ]
    for (name, certificate) in rows {
      let (client, failure) = server.connect(TLSOffer(name))
      #expect(failure == nil)
      #expect(client.handshake?.certificate == certificate.der, "\(name ?? "-")")
    }
    #expect(server.pawl.stop() == [])
  }

  @Test("h2 leads to HTTP/2, no ALPN to HTTP/1.1, and what pawl does not speak to nothing")
  func protocols() throws {
    let server = try SecureServer()
    let (h2, failure) = server.connect(TLSOffer("a.example", protocols: ["h2", "http/1.1"]))
    #expect(failure == nil)
    #expect(h2.handshake?.applicationProtocol == "h2")
    h2.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
    // SETTINGS is the server's first frame.
    #expect(h2.read(9).dropFirst(3).prefix(2) == [4, 0])
    #expect(server.ask(TLSOffer("a.example", protocols: []))?.text == "ok")
    #expect(server.connect(TLSOffer("a.example", protocols: ["spdy/3"])).failure != nil)
    #expect(server.pawl.stop() == [])
  }

  @Test("a PROXY protocol header comes before the handshake, whole or byte by byte", arguments: [false, true])
  func proxied(isBytewise: Bool) throws {
    let v2: [UInt8] = [
      0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x21, 0x11, 0, 12, 203, 0, 113, 7, 192, 0, 2,
      2, 0x12, 0x67, 0x01, 0xbb,
    ]
    for header in [v2, Array("PROXY TCP4 203.0.113.7 192.0.2.2 4711 443\r\n".utf8)] {
      let server = try SecureServer { changes in
        changes.pawl = "trusted-proxies = 127.0.0.1"
        changes.listen += "\nproxy-protocol = on"
      }
      let client = server.pawl.connect()
      for piece in isBytewise ? header.map({ [$0] }) : [header] { client.send(piece) }
      #expect(client.secure(TLSOffer("a.example"), isBytewise: isBytewise) == nil)
      client.send(SecureServer.request("a.example", ["X-Forwarded-For: 198.51.100.1"]))
      #expect(client.readAnswer().text == "ok")
      #expect(server.told("X-Forwarded-For") == ["203.0.113.7"])
      #expect(server.told("X-Forwarded-Port") == ["443"])
      #expect(server.told("X-Forwarded-Proto") == ["https"])
      #expect(server.pawl.record(1, "remote") == ["203.0.113.7"])
      client.close()
      #expect(server.pawl.stop() == [])
    }
  }

  @Test("a request in clear is told that the port speaks TLS")
  func clear() throws {
    let server = try SecureServer()
    let client = server.pawl.connect()
    client.send(SecureServer.request())
    let answer = client.readAnswer()
    #expect(answer.status == 400)
    #expect(answer.text.contains("This port speaks TLS"))
    #expect(client.readToEnd() == ([], .inOrder))
    #expect(server.pawl.record(1, "status", "tls") == ["400", "null"])
    #expect(server.pawl.stop() == [])
  }

  @Test("handshakes that fail are told to the client by alert, and to the log, but not by the thousand")
  func failures() throws {
    let server = try SecureServer()
    for _ in 0..<EventBudget.lines + 3 {
      let client = server.pawl.connect()
      // A record that claims to be a handshake, and is none.
      client.send([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5])
      #expect(client.readToEnd().bytes.first == 0x15)
    }
    let lines = server.pawl.events("tls-handshake-failed")
    #expect(lines.count == EventBudget.lines)
    #expect(lines.allSatisfy { $0.hasPrefix("info tls-handshake-failed client=127.0.0.1 why=") })
    #expect(server.pawl.stop() == [])
  }

  @Test("a handshake that does not come to its end ends with header-timeout, and soon when the server drains")
  func slow() throws {
    let server = try SecureServer()
    let pawl = server.pawl
    let (slow, silent) = (pawl.connect(), pawl.connect())
    slow.send([0x16, 3, 1, 2, 0, 1])
    pawl.waitUntil("both are there") { pawl.onLoop { $0.connections.members.count } == 2 }
    pawl.clock.advance(by: .seconds(14))
    pawl.settle()
    #expect(slow.isQuiet && silent.isQuiet)
    pawl.clock.advance(by: .seconds(1))
    #expect(slow.readToEnd().bytes == [])
    #expect(silent.readToEnd().bytes == [])
    let reason = "info tls-handshake-failed client=127.0.0.1 why=\"it took longer than header-timeout\""
    #expect(pawl.events("tls-handshake-failed") == [reason])
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

  @Test("connections whose handshake is not done count to max-connections")
  func limit() throws {
    let server = try SecureServer { $0.pawl = "max-connections = 2" }
    let first = [server.pawl.connect(), server.pawl.connect()]
    server.pawl.waitUntil("both are there") { server.pawl.onLoop { $0.connections.members.count } == 2 }
    #expect(server.connect().failure != nil)
    for client in first { client.close() }
    server.pawl.waitUntil("both are gone") { server.pawl.onLoop { $0.connections.members.count } == 0 }
    #expect(server.connect().failure == nil)
    #expect(server.pawl.stop() == [])
  }

  @Test("where a section wants certificates, a request must not use a connection made for another")
  func misdirected() throws {
    let server = try SecureServer(b: "client-ca = AUTHORITY\nclient-certificate = required") {
      $0.site = "cache = off\nclient-certificate-field = on"
    }
    let forB = TLSOffer("b.example", certificate: server.client)
    #expect(server.ask(TLSOffer("a.example"), host: "b.example")?.status == 421)
    #expect(server.ask(TLSOffer("a.example"), host: "B.example:8443")?.status == 421)
    #expect(server.ask(forB, host: "a.example")?.status == 421)
    #expect(server.ask(TLSOffer("a.example"), host: "x.wild.example", "Client-Cert: :Zg==:")?.status == 200)
    #expect(server.told("Client-Cert") == [])
    #expect(server.ask(forB, host: "b.example:443", "client-cert: :Zg==:")?.status == 200)
    let told = server.told("Client-Cert")
    #expect(told.count == 1 && told.first?.hasPrefix(":MII") == true)
    #expect(server.pawl.record(5, "client_subject") == ["CN=client"])
    // Without one the handshake fails, in TLS 1.3 after the client's own end of it.
    #expect(server.ask(TLSOffer("b.example"), host: "b.example")?.status ?? 0 == 0)
    #expect(server.pawl.stop() == [])
  }

  @Test("an upload belongs to whom the certificate names, and its URL is https")
  func owner() throws {
    let server = try SecureServer(b: "client-ca = AUTHORITY\nclient-certificate = optional") {
      $0.site = "owner = client-certificate"
    }
    let other = server.certificates.make(names: ["other"], issuer: server.authority)
    let renewed = server.certificates.make(names: ["client"], issuer: server.authority)
    func offer(_ certificate: TestCertificate?) -> TLSOffer { TLSOffer("b.example", certificate: certificate) }
    let (creator, failure) = server.connect(offer(server.client))
    #expect(failure == nil)
    creator.send(
      "POST /f HTTP/1.1\r\nHost: b.example\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 3\r\nContent-Length: 0\r\n\r\n")
    let location = creator.readAnswer()["Location"] ?? ""
    #expect(location.hasPrefix("https://b.example/.pawl/uploads/"))
    let path = location.dropFirst("https://b.example".count)
    for (certificate, status) in [(other, 404), (nil, 404), (server.client, 200), (renewed, 200)] {
      let (client, _) = server.connect(offer(certificate))
      client.send("HEAD \(path) HTTP/1.1\r\nHost: b.example\r\nTus-Resumable: 1.0.0\r\n\r\n")
      let got = client.readAnswer(isHead: true).status
      #expect(status == 200 ? got == 200 : (400..<500).contains(got), "\(got)")
    }
    #expect(server.pawl.stop() == [])
  }
}
