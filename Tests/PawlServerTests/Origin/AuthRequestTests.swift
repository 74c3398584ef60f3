import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("An application is asked before an upload") struct AuthRequestTests {
  private func bench(_ origin: ScriptedOrigin) throws -> ServerBench {
    try ServerBench(url: "http://127.0.0.1:\(origin.port)") { $0.site = "auth-request = /auth" }
  }

  private func ask(_ bench: ServerBench, _ advance: Bool = false) -> AuthVerdict? {
    var verdict: AuthVerdict?
    AuthRequest.ask(bench.request(.post, "/f?q", [(.authorization, "Bearer t")])) { verdict = $0 }
    bench.turn { verdict != nil }
    return verdict
  }

  @Test("without a path it is allowed at once")
  func none() throws {
    let bench = try ServerBench()
    var verdict: AuthVerdict?
    #expect(AuthRequest.ask(bench.request(.post, "/f")) { verdict = $0 } == nil)
    guard case .allowed(let fields) = verdict else { return #expect(Bool(false)) }
    #expect(fields.count == 0)
  }

  @Test("2xx allows, with the fields of the answer; its connection is used again")
  func allowed() throws {
    let okay = "HTTP/1.1 200 OK\r\nX-User: u\r\nContent-Length: 2\r\n\r\nok"
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(okay), .expectHead, .send(okay), .readToEnd])
    let bench = try bench(origin)
    for _ in 0..<2 {
      guard case .allowed(let fields)? = ask(bench) else { return #expect(Bool(false)) }
      #expect(fields.all(named: Bytes("x-user")).map(\.text) == ["u"])
      bench.turn { bench.services.pool(for: bench.route.upstream).idleCount == 1 }
    }
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
    let sent = String(decoding: origin.received[0], as: UTF8.self)
    #expect(sent.hasPrefix("GET /auth HTTP/1.1\r\n") && sent.contains("\r\nAuthorization: Bearer t\r\n"))
    #expect(sent.contains("\r\nX-Original-Method: POST\r\nX-Original-URI: /f?q\r\n"))
  }

  @Test("a 4xx is the answer, its body and its challenge")
  func refused() throws {
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead,
        .send("HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\nno"),
        .readToEnd,
      ])
    let bench = try bench(origin)
    guard case .refused(let head, let body, true)? = ask(bench) else { return #expect(Bool(false)) }
    #expect(head.status == 401 && body == Array("no".utf8))
    #expect(head.fields.description == "WWW-Authenticate: Basic\r\nContent-Type: a/b\r\n")
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
  }

  @Test("of a body that is too long the beginning is there, and is said to be no more", arguments: [0, 1])
  func longRefusal(_ more: Int) throws {
    let count = AuthRequest.bodyLimit + more
    let origin = ScriptedOrigin(
      .tcp,
      [
        .expectHead, .send("HTTP/1.1 403 No\r\nContent-Length: \(count)\r\n\r\n"), .sendPattern(count: count),
        .readToEnd,
      ])
    let bench = try bench(origin)
    guard case .refused(let head, let body, let isWhole)? = ask(bench) else { return #expect(Bool(false)) }
    #expect(head.status == 403 && isWhole == (more == 0))
    #expect(body == OriginStep.pattern(from: 0, count: AuthRequest.bodyLimit))
    bench.serverLoop.closeOrigins()
    #expect(origin.finish() == [])
  }

  @Test(
    "anything else is no answer",
    arguments: [
      ("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", "why=\"status 302\" "),
      ("garbage\r\n\r\n", "http_protocol_error"),
      ("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\nx\r\n", "why="),
    ])
  func unavailable(_ answer: String, _ why: String) throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .send(answer), .readToEnd])
    let bench = try bench(origin)
    guard case .unavailable? = ask(bench) else { return #expect(Bool(false)) }
    let told = bench.running.events("auth-request-failed")
    #expect(told.count == 1 && told.allSatisfy { $0.contains(why) }, "\(told)")
    bench.serverLoop.closeOrigins()
    _ = origin.finish()
  }

  @Test("nor is silence; who cancels hears nothing")
  func silence() throws {
    let origin = ScriptedOrigin(.tcp, [.expectHead, .readToEnd], [.expectHead, .readToEnd])
    let bench = try bench(origin)
    var count = 0
    let first = AuthRequest.ask(bench.request(.post, "/f")) { _ in count += 1 }
    AuthRequest.ask(bench.request(.post, "/f")) { _ in count += 1 }
    first?.cancel()
    bench.turn { origin.received.contains { $0.suffix(4) == [13, 10, 13, 10] } }
    bench.running.clock.advance(by: AuthRequest.patience)
    bench.turn { count == 1 }
    bench.serverLoop.closeOrigins()
    _ = origin.finish()
  }

  @Test("the question has nothing of the content, of ranges, conditions and uploads, and no claims of the client's")
  func question() throws {
    let bench = try ServerBench()
    let request = bench.request(
      .patch, "/f",
      [
        (.contentEncoding, "gzip"), (.range, "bytes=0-"), (.ifMatch, "*"), (.uploadOffset, "5"), (.reprDigest, "x"),
        (.cookie, "a=b"), (.tusResumable, "1.0.0"),
      ], framing: .chunked)
    var head = request.head
    head.fields.append(named: Bytes("x-original-uri"), Bytes("/forged"))
    let forged = IncomingRequest(
      head: head, route: request.route, loop: request.loop,
      facts: ClientFacts(client: request.client, isTrusted: false, port: 1),
      requestID: [], isRouted: true, record: request.record)
    let asked = AuthRequest.question(forged, path: Array("/auth".utf8), original: (.post, Bytes("/files")))
    #expect(asked.method == .get && asked.target == Bytes("/auth") && asked.framing == .none)
    let names = asked.fields.lines.map { asked.fields.name($0).text }
    #expect(
      names == [
        "Cookie", "Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Real-IP",
        "Via", "X-Request-Id", "X-Original-Method", "X-Original-URI",
      ])
    #expect(asked.fields.all(named: Bytes("x-original-uri")).map(\.text) == ["/files"])
    #expect(asked.fields.all(named: Bytes("x-original-method")).map(\.text) == ["POST"])
  }
}
