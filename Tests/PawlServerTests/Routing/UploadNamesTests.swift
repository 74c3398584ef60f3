import PawlHTTP
import PawlStore
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlServer

@Suite("What an upload is called") struct UploadNamesTests {
  private let prefix = Array("/.pawl/uploads/".utf8)
  private let text = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
  private var token: UploadToken { get throws { try #require(UploadToken(Bytes(text))) } }

  @Test("tokens are never made twice, unless from the same secret")
  func tokens() {
    #expect(UploadNames.makeToken() != UploadNames.makeToken())
    #expect(UploadNames.token(from: [1]) == UploadNames.token(from: [1]))
    #expect(UploadNames.token(from: [1]) != UploadNames.token(from: [2]))
  }

  @Test("the ID is the first half of the token's SHA-256")
  func id() throws {
    // printf A…A | sha256sum
    #expect(UploadNames.id(try token).hex == "22a48051594c1949deed7040850c1f0f")
  }

  @Test("the URL is absolute, as the client used it; only trusted proxies may tell otherwise")
  func location() throws {
    let bench = try ServerBench()
    let path = "/.pawl/uploads/\(text)"
    let claims: [(FieldName, String)] = [(.xForwardedProto, "https, http"), (.xForwardedHost, "A.example:8443")]
    let odd: [(FieldName, String)] = [(.xForwardedProto, "gopher"), (.xForwardedHost, "a/b")]
    func location(_ fields: [(FieldName, String)], isTrusted: Bool, authority: String = "site:81") throws -> String {
      let plain = bench.request(.post, "/f", fields, authority: authority)
      let request = IncomingRequest(
        head: plain.head, route: plain.route, loop: plain.loop,
        facts: ClientFacts(client: nil, isTrusted: isTrusted, port: 81),
        requestID: [], isRouted: true, record: plain.record)
      return String(decoding: UploadNames.location(try token, prefix: prefix, of: request), as: UTF8.self)
    }
    #expect(try location([], isTrusted: false) == "http://site:81\(path)")
    #expect(try location(claims, isTrusted: false) == "http://site:81\(path)")
    #expect(try location(claims, isTrusted: true) == "https://a.example:8443\(path)")
    #expect(try location(odd, isTrusted: true) == "http://site:81\(path)")
    #expect(try location([], isTrusted: false, authority: "") == path)
  }
}
