import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Answers of pawl's own") struct RepliesTests {
  private func text(_ reply: Replies.Reply) -> String {
    String(decoding: reply.bytes(date: Array("D".utf8)), as: UTF8.self).replacing("\r\n", with: "\n")
  }

  @Test("a refusal says what was wrong with the request, and ends the connection")
  func refusal() {
    #expect(
      text(Replies.refusal(status: 431, reason: "The head is too large.")) == """
        HTTP/1.1 431 Request Header Fields Too Large
        Content-Type: text/plain; charset=utf-8
        Cache-Control: no-store
        Proxy-Status: pawl; error=http_request_error; details="The head is too large."
        Date: D
        Via: 1.1 pawl
        Content-Length: 60
        Connection: close

        431 Request Header Fields Too Large

        The head is too large.

        """)
  }

  @Test("a failure names its kind, the upstream and the request; 503 says when to try again")
  func failure() {
    let reply = Replies.failure(
      ProxyError(.connectionLimitReached), upstream: "app", requestID: Array("r1".utf8))
    #expect(
      text(reply) == """
        HTTP/1.1 503 Service Unavailable
        Content-Type: text/plain; charset=utf-8
        Cache-Control: no-store
        Proxy-Status: pawl; error=connection_limit_reached
        Retry-After: 5
        Date: D
        Via: 1.1 pawl
        Content-Length: 142
        Connection: close

        503 Service Unavailable

        The server behind this proxy is busy; please try again shortly. (connection_limit_reached, upstream app, request r1)

        """)
  }

  @Test("a client that is no trusted proxy sees the kind of a failure, and nothing of the inside")
  func failureOutside() {
    let error = ProxyError(.httpUpgradeFailed, details: "10.0.0.7:9000: no", receivedStatus: 200)
    let reply = Replies.failure(error, upstream: nil, requestID: Array("r1".utf8))
    #expect(
      reply.head.fields.first(.proxyStatus).map(Array.init)
        == Array("pawl; error=http_upgrade_failed; received-status=200".utf8))
    #expect(String(decoding: reply.body, as: UTF8.self).hasSuffix(". (http_upgrade_failed, request r1)\n"))
    let inside = Replies.failure(error, upstream: "app", requestID: Array("r1".utf8))
    #expect(
      inside.head.fields.first(.proxyStatus).map(Array.init)
        == Array("pawl; error=http_upgrade_failed; received-status=200; details=\"10.0.0.7:9000: no\"".utf8))
  }

  @Test("each kind of failure has a sentence, its status and its word", arguments: ProxyError.Kind.allCases)
  func kinds(_ kind: ProxyError.Kind) {
    let error = ProxyError(kind)
    let reply = Replies.failure(error, upstream: "app", requestID: Array("r1".utf8))
    #expect(reply.head.status == error.status)
    let body = String(decoding: reply.body, as: UTF8.self)
    #expect(body.contains(". (\(kind.rawValue), upstream app, request r1)\n") || body.contains("shortly. ("))
    #expect(reply.head.fields.contains(.retryAfter) == (error.status == 503))
  }

  @Test(
    "a host that no site answers for is named", arguments: [("a.example", "a.example"), ("", "that was not named")])
  func noSite(_ host: String, _ named: String) {
    let reply = Replies.noSite(Bytes(host))
    #expect(reply.head.status == 404)
    #expect(
      String(decoding: reply.body, as: UTF8.self) == "404 Not Found\n\nNo site here answers for the host \(named).\n")
  }

  @Test("OPTIONS * is answered by pawl itself")
  func options() {
    #expect(Replies.options().head.fields.description == "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n")
    #expect(Replies.options().body.isEmpty)
  }
}
