import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Fields behind the content (RFC 9110 §6.5)") struct TrailersTests {
  private static let chunked =
    "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n"
    + "2\r\nok\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\nConnection: x-gone\r\nX-Gone: 1\r\nSet-Cookie: a=b\r\nGrpc-Status: 0\r\n\r\n"

  @Test(
    "are taken by who says so",
    arguments: [
      ("trailers", true), ("gzip, Trailers", true), ("trailers;q=0.5", true), ("gzip;q=1", false), ("", false),
      ("xtrailers", false),
    ])
  func taken(_ value: String, _ isTaken: Bool) {
    var fields = Fields()
    fields.append(.te, value)
    #expect(Trailers.areTaken(by: fields) == isTaken)
    #expect(!Trailers.areTaken(by: Fields()))
  }

  @Test("go on but for what frames, routes, authenticates or describes the message")
  func relayed() {
    var fields = Fields()
    for name in ["X-Sum", "Content-Digest", "Server-Timing", "Transfer-Encoding", "Host", "WWW-Authenticate", "Cookie"]
    {
      fields.append(named: Array(name.utf8), Array("v".utf8))
    }
    let kept = Trailers.relayed(fields)
    #expect(kept.lines.map { kept.name($0).text } == ["X-Sum", "Content-Digest", "Server-Timing"])
  }

  @Test("reach a client of HTTP/1.1 that takes them, and no other", arguments: ["GET", "POST"])
  func overHTTP1(_ method: String) throws {
    let script: [OriginStep] = [.expectHead, .send(Self.chunked), .readToEnd]
    let origin = ScriptedOrigin(
      .tcp, [.expectHead, .send(Self.chunked), .expectHead, .send(Self.chunked), .readToEnd], script)
    let pawl = try TestServer(origin)
    let plain = pawl.connect()
    plain.send("\(method) /f HTTP/1.1\r\nHost: site\r\nConnection: close\r\n\r\n")
    _ = plain.readHead()
    #expect(String(decoding: plain.readToEnd().bytes, as: UTF8.self) == "2\r\nok\r\n0\r\n\r\n")
    let client = pawl.connect()
    client.send("\(method) /f HTTP/1.1\r\nHost: site\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n")
    _ = client.readHead()
    #expect(
      String(decoding: client.readToEnd().bytes, as: UTF8.self) == "2\r\nok\r\n0\r\nX-Sum: 1\r\nGrpc-Status: 0\r\n\r\n"
    )
    #expect(pawl.stop() == [])
    let sent = origin.received.map { String(decoding: $0, as: UTF8.self) }.joined()
    #expect(sent.split(separator: "\r\n").filter { $0 == "TE: trailers" || $0 == "Connection: te" }.count == 2)
  }

  @Test("reach a client of HTTP/2 behind the content", arguments: ["GET", "POST"])
  func overHTTP2(_ method: String) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(Self.chunked), .readToEnd])
    let pawl = try TestServer(origin)
    let client = HTTP2Client(pawl)
    let answer = client.answer(client.open("\(method) /f", [("te", "trailers")]))
    #expect(answer.text == "ok" && answer.isWhole && answer.resetCode == nil)
    #expect(answer.trailers.map { "\($0.0): \($0.1)" } == ["x-sum: 1", "grpc-status: 0"])
    client.socket.close()
    #expect(pawl.stop() == [])
    #expect(String(decoding: origin.received[0], as: UTF8.self).contains("\r\nTE: trailers\r\n"))
  }
}
