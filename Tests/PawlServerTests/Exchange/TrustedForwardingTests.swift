import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What trusted proxies say of their clients") struct TrustedForwardingTests {
  @Test("the URL is absolute, as the client used it; only trusted proxies may tell otherwise")
  func location() throws {
    let bench = try ServerBench()
    let path = "/.pawl/uploads/token"
    let claims: [(FieldName, String)] = [(.xForwardedProto, "https, http"), (.xForwardedHost, "A.example:8443")]
    let odd: [(FieldName, String)] = [(.xForwardedProto, "gopher"), (.xForwardedHost, "a/b")]
    func location(_ fields: [(FieldName, String)], isTrusted: Bool, authority: String = "site:81") throws -> String {
      let plain = bench.request(.post, "/f", fields, authority: authority)
      let request = IncomingRequest(
        head: plain.head, route: plain.route, loop: plain.loop,
        facts: ClientFacts(client: nil, isTrusted: isTrusted, port: 81),
        requestID: [], isRouted: true, record: plain.record)
      return String(decoding: request.url(of: Array(path.utf8)), as: UTF8.self)
    }
    #expect(try location([], isTrusted: false) == "http://site:81\(path)")
    #expect(try location(claims, isTrusted: false) == "http://site:81\(path)")
    #expect(try location(claims, isTrusted: true) == "https://a.example:8443\(path)")
    #expect(try location(odd, isTrusted: true) == "http://site:81\(path)")
    #expect(try location([], isTrusted: false, authority: "") == path)
  }
}
