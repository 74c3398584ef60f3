import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A tunnel after 101") struct TunnelTests {
  private static let handshake =
    "GET /f HTTP/1.1\r\nHost: site\r\nX-Request-Id: r\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
  private static let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

  @Test("bytes go both ways as they come, those that came with the handshake too", arguments: Fragmenter.allCases)
  func bothWays(_ fragmenter: Fragmenter) throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(Self.switching + "hello"), .expect("early more"), .sendEachByte("world"), .expectEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(Self.handshake + "early", fragmenter)
    #expect(
      client.readHead().replacing("\r\n", with: "\n") == """
        HTTP/1.1 101 Switching Protocols
        Upgrade: websocket
        Date: \(today)
        Via: 1.1 pawl
        Connection: upgrade


        """)
    #expect(client.read(5) == Array("hello".utf8))
    client.send(" more", fragmenter)
    #expect(client.read(5) == Array("world".utf8))
    client.close()
    #expect(pawl.record(1, "status", "bytes") == ["101", "10"])
    #expect(pawl.stop() == [])
  }

  @Test("an end on one side is an end of that direction only")
  func halves() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(Self.switching + "a"), .halfClose, .expect("bc"), .expectEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(Self.handshake)
    _ = client.readHead()
    #expect(client.readToEnd() == (Array("a".utf8), .inOrder))
    client.send("b")
    client.send("c")
    client.halfClose()
    #expect(pawl.record(1, "status") == ["101"])
    #expect(pawl.stop() == [])
  }

  @Test("a slow side slows the other: memory stays bounded")
  func backpressure() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(Self.switching), .sendPatternUntilStuck(upTo: 256 << 20)])
    let pawl = try TestServer(origin)
    let client = pawl.connect(receiveBuffer: 4096)
    client.send(Self.handshake)
    _ = client.readHead()
    pawl.waitUntil("the origin is stuck") { origin.patternSent > 0 }
    let sent = origin.patternSent
    #expect(sent < 16 << 20)
    let (bytes, _) = client.readToEnd()
    #expect(bytes == OriginStep.pattern(from: 0, count: sent))
    #expect(pawl.stop() == [])
  }

  @Test("an origin that refuses the upgrade answers like any other")
  func refused() throws {
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), .readToEnd])
    let pawl = try TestServer(origin)
    let client = pawl.connect()
    client.send(Self.handshake)
    let answer = client.readAnswer()
    #expect(answer.status == 403 && answer.text == "no")
    client.close()
    #expect(pawl.stop() == [])
  }
}
