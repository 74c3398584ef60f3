import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Hellos of clients") struct ServerCallbacksTests {
  @Test("ALPN: h2 where it is offered, then http/1.1; a client that offers only others gets no_application_protocol")
  func protocols() throws {
    let rows: [([String], Bool, String?)] = [
      (["h2", "http/1.1"], true, "h2"), (["http/1.1", "h2"], true, "h2"), (["h2", "http/1.1"], false, "http/1.1"),
      (["http/1.1"], true, "http/1.1"), (["h2"], false, nil), (["http/1.0", "spdy/3"], true, "http/1.0"),
      (["spdy/3"], true, nil),
      (["x", "http/1.1"], true, "http/1.1"), ([], true, ""),
    ]
    for (offered, offersHTTP2, chosen) in rows {
      let context = try Made.server([Made.section("a", [Made.ecdsa])], offersHTTP2: offersHTTP2)
      let client = try Made.client().makeEngine(serverName: "a.example", place: "x")
      let list = offered.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
      SSL_set_alpn_protos(client.ssl, list, UInt32(list.count))
      let pair = try EnginePair(context.makeEngine(), client).shake()
      if let chosen {
        #expect(pair.server.facts?.applicationProtocol == Array(chosen.utf8), "\(offered)")
        #expect(pair.client.facts?.applicationProtocol == Array(chosen.utf8), "\(offered)")
      } else {
        #expect(pair.clientFailure?.kind == .alert(120), "\(offered)")
        #expect(pair.serverFailure?.kind == .protocolError)
      }
    }
  }

  @Test("lists that are cut short choose nothing")
  func cutLists() {
    for list in [[3, 0x68, 0x32], [2, 0x68], [255], []] as [[UInt8]] {
      #expect(list.withUnsafeBytes { ServerCallbacks.choose(from: $0, offersHTTP2: true) } == nil)
    }
    let good: [UInt8] = [1, 0x78, 2, 0x68, 0x32]
    #expect(good.withUnsafeBytes { ServerCallbacks.choose(from: $0, offersHTTP2: true) } == 3..<5)
  }

  @Test("names of SNI are read with their lengths in mind")
  func serverNames() {
    let rows: [([UInt8], String?)] = [
      ([0, 6, 0, 0, 3] + Array("A.b".utf8), "a.b"), ([0, 7, 0, 0, 4] + Array("a.b.".utf8), "a.b"),
      ([0, 4, 0, 0, 1] + Array("x".utf8), "x"), ([0, 3, 0, 0, 0], nil), ([0, 6, 1, 0, 3] + Array("a.b".utf8), nil),
      ([0, 6, 0, 0, 4] + Array("a.b".utf8), nil), ([0, 9, 0, 0, 3] + Array("a.b".utf8), nil), ([], nil), ([0], nil),
      ([0, 4, 0, 0, 1, 0], nil),
    ]
    for (bytes, name) in rows {
      let found = bytes.withUnsafeBytes { ServerCallbacks.serverName($0) }
      #expect(found == name.map { Array($0.utf8) }, "\(bytes)")
    }
  }

  @Test("a client that does not know our curves first is asked again, and a name in capitals is known")
  func retry() throws {
    let context = try Made.server([Made.section("a", [Made.ecdsa]), Made.section("b", [Made.b])])
    let client = try Made.client(verifies: false).makeEngine(serverName: "B.Example", place: "x")
    #expect(pawl_ssl_set_groups(client.ssl, "brainpoolP256r1:P-384") == 1)
    let pair = try EnginePair(context.makeEngine(), client).shake()
    #expect(pair.isDone)
    #expect(pair.server.facts?.section == 1)
    #expect(pair.server.facts?.serverName == Array("b.example".utf8))
  }

  @Test("a request in clear is told from other rubbish")
  func rubbish() throws {
    let context = try Made.server([Made.section("a", [Made.ecdsa])])
    for (text, isClear) in [("GET / HTTP/1.1\r\n\r\n", true), ("\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}", false)] {
      let pair = try EnginePair(context, Made.client())
      let bytes = Array(text.utf8)
      #expect(send(pair.sockets.1, bytes) == bytes.count)
      guard case .failed(let failure) = pair.server.handshake() else {
        Issue.record("no failure")
        continue
      }
      #expect(failure.kind == .protocolError)
      #expect(failure.isClearRequest == isClear)
    }
  }
}
