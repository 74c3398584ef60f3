import PawlBase
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlUpstream

@Suite("Troubles with origins") struct OriginTroubleTests {
  @Test(
    "each error of an origin has its word; errors of pawl have none",
    arguments: [
      (.connectionRefused, "refused"), (.connectionTerminated, "closed"), (.httpResponseIncomplete, "closed"),
      (.destinationIPUnroutable, "unreachable"), (.destinationUnavailable, "unreachable"),
      (.dnsError, "not-resolved"), (.dnsTimeout, "not-resolved"), (.connectionTimeout, "connect-timeout"),
      (.httpResponseTimeout, "response-timeout"), (.connectionReadTimeout, "idle-timeout"),
      (.connectionWriteTimeout, "send-timeout"), (.tlsCertificateError, "tls"), (.tlsAlertReceived, "tls"),
      (.httpProtocolError, "bad-response"), (.httpResponseTransferCoding, "bad-response"),
      (.httpResponseHeaderSectionSize, "head-too-large"), (.connectionLimitReached, nil), (.proxyInternalError, nil),
      (.proxyLoopDetected, nil),
    ] as [(ProxyError.Kind, String?)])
  func kinds(_ kind: ProxyError.Kind, _ word: String?) {
    let trouble = OriginTrouble(ProxyError(kind), url: 0, requestID: [], next: .cuts)
    #expect(trouble?.kind.rawValue == word)
  }

  @Test("a connection that broke is reset")
  func reset() {
    let error = ProxyError(.connectionTerminated, details: "Connection reset by peer")
    #expect(OriginTrouble(error, url: 0, requestID: [], isReset: true, next: .cuts)?.kind == .reset)
  }

  @Test(
    "what is done is said in words",
    arguments: [
      (.triesNextAddress, "tries the next address"), (.triesNextNode, "tries the next node"),
      (.asksAgain, "asks again on a new connection"), (.asksOtherNode, "asks another node"),
      (.answers(502), "502 to the client"), (.cuts, "cuts the transfer"),
      (.other("x"), "x"),
    ] as [(OriginTrouble.Next, String)])
  func words(_ next: OriginTrouble.Next, _ text: String) { #expect(next.text == text) }

  @Test("so many server errors in a row are told of once, and their end")
  func streak() {
    let news = Locked<[ServerErrorNews]>([])
    let settings = UpstreamSettings(
      name: "app", urls: [UpstreamURL(host: "a", port: 1), UpstreamURL(host: "b", port: 1)])
    let upstream = Upstream(
      settings, resolver: Resolver(), serverErrors: { entry in news.withLock { $0.append(entry) } })
    for _ in 1..<ServerErrorNews.streak { upstream.count(status: 503, of: 1) }
    upstream.count(status: 404, of: 1)
    #expect(news.withLock { $0 } == [])
    for _ in 1...ServerErrorNews.streak + 2 { upstream.count(status: 500, of: 1) }
    upstream.count(status: 200, of: 0)
    #expect(news.withLock { $0 } == [ServerErrorNews(url: 1, status: 500, count: 5, isOver: false)])
    upstream.count(status: 200, of: 1)
    upstream.count(status: 200, of: 1)
    #expect(news.withLock { $0.last } == ServerErrorNews(url: 1, status: 200, count: 7, isOver: true))
    #expect(news.withLock { $0.count } == 2)
  }
}
