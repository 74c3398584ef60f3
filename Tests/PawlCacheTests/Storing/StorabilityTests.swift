import PawlCache
import PawlHTTP
import Testing

@Suite("Storability (RFC 9111 §3)") struct StorabilityTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var request: [String] = []
    var method: Method = .get
    var status = 200
    var response: [String]
    var framing: BodyFraming = .length(1000)
    var policy = CachePolicy()
    var expected: Storability
    var testDescription: String { "\(method) \(request) -> \(status) \(response)" }
  }

  private static func decide(_ row: Row) -> Storability {
    Storability.decide(
      request: Messages.request(row.request, method: row.method),
      response: Messages.response(row.response, status: row.status),
      framing: row.framing, policy: row.policy, receivedAt: Messages.now)
  }

  @Test(
    "keeps what may be shared",
    arguments: [
      Row(response: [], expected: .shared),
      Row(response: ["Cache-Control: max-age=0"], expected: .shared),
      Row(response: ["Cache-Control: no-cache"], expected: .shared),
      Row(response: ["Cache-Control: no-store"], expected: .no(.noStore)),
      Row(response: ["Cache-Control: max-age=10, No-StOrE"], expected: .no(.noStore)),
      Row(response: ["Cache-Control: private, max-age=10"], expected: .no(.isPrivate)),
      Row(response: ["Cache-Control: private=\"a\", max-age=10"], expected: .no(.isPrivate)),
      Row(
        request: ["Cache-Control: no-store"], response: ["Cache-Control: max-age=10"], expected: .no(.requestNoStore)),
      Row(request: ["Cache-Control: nothing-to-see-here"], response: [], expected: .shared),
      Row(response: ["Vary: *"], expected: .no(.varyStar)),
      Row(response: ["Vary: Foo, *"], expected: .no(.varyStar)),
      Row(response: ["Vary: Foo"], expected: .shared),
      Row(response: ["Content-Type: text/event-stream; charset=utf-8"], expected: .no(.liveStream)),
      Row(response: ["Content-Type: multipart/x-mixed-replace;boundary=a"], expected: .no(.liveStream)),
      Row(response: ["Content-Type: text/event-streams"], expected: .shared),
      Row(response: [], framing: .length(1001), policy: CachePolicy(maxObject: 1000), expected: .no(.tooLarge)),
      Row(response: [], framing: .length(1000), policy: CachePolicy(maxObject: 1000), expected: .shared),
      Row(response: [], framing: .chunked, policy: CachePolicy(maxObject: 1000), expected: .shared),
      Row(response: [], framing: .untilClose, expected: .shared),
      Row(response: ["Content-Range: garbage"], expected: .shared),
    ])
  func shared(_ row: Row) { #expect(Self.decide(row) == row.expected) }

  @Test(
    "keeps what only a date confirms for nobody else, if the request names its user in a field that selects nothing",
    arguments: [
      (["X-Api-Key: k"], ["Cache-Control: no-cache"], .no(.authorization)),
      (
        ["X-Api-Key: k"], ["Cache-Control: no-cache", "Last-Modified: Sat, 01 Aug 2026 10:00:00 GMT"],
        .no(.authorization)
      ),
      (["Authorization: x"], ["Cache-Control: no-cache, must-revalidate"], .no(.authorization)),
      (["X-Api-Key: k"], ["Cache-Control: no-cache", "ETag: \"a\""], .shared),
      (["X-Api-Key: k"], ["Cache-Control: no-cache", "Vary: X-API-Key"], .shared),
      (["X-Api-Key: k"], ["Cache-Control: no-cache, public"], .shared),
      (["X-Api-Key: k"], ["Cache-Control: max-age=10"], .shared),
      (["X-Request-Type: k"], ["Cache-Control: no-cache"], .shared),
      ([], ["Cache-Control: no-cache"], .shared),
    ] as [([String], [String], Storability)])
  func confirmedByDate(_ request: [String], _ response: [String], _ expected: Storability) {
    #expect(Self.decide(Row(request: request, response: response, expected: expected)) == expected)
  }

  @Test(
    "keeps authorised responses only with permission (RFC 9111 §3.5)",
    arguments: [
      ([], .no(.authorization)), (["Cache-Control: max-age=10"], .no(.authorization)),
      (["Cache-Control: public, max-age=10"], .shared), (["Cache-Control: s-maxage=10"], .shared),
      (["Cache-Control: must-revalidate"], .shared), (["Cache-Control: proxy-revalidate"], .no(.authorization)),
      (["CDN-Cache-Control: max-age=10", "Cache-Control: public"], .no(.authorization)),
    ] as [([String], Storability)])
  func authorized(_ response: [String], _ expected: Storability) {
    #expect(Self.decide(Row(request: ["Authorization: x"], response: response, expected: expected)) == expected)
  }

  @Test(
    "gives what was made with cookies to the same cookies only, unless it says that it is for everybody",
    arguments: [
      Row(request: ["Cookie: a=b"], response: [], expected: .sharedPerCookie),
      // Its cookie is one client's, its bytes are whose the origin says.
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\""], expected: .sharedOnceConfirmed),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "Cache-Control: max-age=9"], expected: .sharedOnceConfirmed),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "Cache-Control: public"], expected: .shared),
      Row(response: ["Set-Cookie: a=b", "ETag: W/\"x\""], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "ETag: \"y\""], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "Cache-Control: private"], expected: .no(.isPrivate)),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "Cache-Control: no-store"], expected: .no(.noStore)),
      Row(response: ["Set-Cookie: a=b", "ETag: \"x\"", "Vary: *"], expected: .no(.varyStar)),
      Row(status: 404, response: ["Set-Cookie: a=b", "ETag: \"x\""], expected: .no(.setCookie)),
      Row(
        request: ["Authorization: a"], response: ["Set-Cookie: a=b", "ETag: \"x\""], expected: .no(.authorization)),
      Row(
        request: ["X-HTTP-Method-Override: PUT"], response: ["Set-Cookie: a=b", "ETag: \"x\""],
        expected: .no(.override)),
      Row(request: ["Cookie: a=b"], response: [Messages.dated("Last-Modified", -1000)], expected: .sharedPerCookie),
      Row(request: ["Cookie: a=b"], response: ["Cache-Control: max-age=0"], expected: .sharedPerCookie),
      Row(request: ["Cookie: a=b"], response: ["Cache-Control: no-cache"], expected: .sharedPerCookie),
      Row(request: ["Cookie: a=b"], response: [Messages.dated("Expires", -1)], expected: .sharedPerCookie),
      Row(request: ["Cookie: a=b"], response: ["Cache-Control: max-age=1"], expected: .shared),
      Row(request: ["Cookie: a=b"], response: [Messages.dated("Expires", 1)], expected: .shared),
      Row(request: ["Cookie: a=b"], response: ["Cache-Control: public"], expected: .shared),
      Row(response: ["Set-Cookie: a=b"], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", "Cache-Control: max-age=0"], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", Messages.dated("Last-Modified", -1000)], expected: .no(.setCookie)),
      // A lifetime of whatever source says nothing of for whom it is.
      Row(response: ["Set-Cookie: a=b", "Cache-Control: max-age=1"], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", Messages.dated("Expires", 9)], expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b"], policy: CachePolicy(defaultTTL: 60), expected: .no(.setCookie)),
      Row(response: ["Set-Cookie: a=b", "Cache-Control: public"], expected: .shared),
      Row(response: ["Set-Cookie: a=b", "Cache-Control: s-maxage=1"], expected: .shared),
      Row(response: ["Set-Cookie: a=b", "CDN-Cache-Control: max-age=1"], expected: .shared),
      Row(
        request: ["Cookie: a=b"], response: ["Set-Cookie: a=b", "Cache-Control: max-age=1"], expected: .no(.setCookie)),
      Row(
        request: ["Cookie: a=b"], response: ["Set-Cookie: a=b", "Cache-Control: public, max-age=1"], expected: .shared),
    ])
  func cookies(_ row: Row) { #expect(Self.decide(row) == row.expected) }

  @Test(
    "treats a client's certificate that the application is told of as a credential",
    arguments: [
      ([], .no(.authorization)), (["Cache-Control: max-age=10"], .no(.authorization)),
      (["Cache-Control: public, max-age=10"], .shared),
    ] as [([String], Storability)])
  func certified(_ response: [String], _ expected: Storability) {
    #expect(Self.decide(Row(request: ["Client-Cert: :AA==:"], response: response, expected: expected)) == expected)
  }

  @Test(
    "keeps nothing but a 200 of what answers a range or a condition",
    arguments: [
      (200, .shared), (416, .no(.conditional)), (404, .no(.conditional)), (301, .no(.conditional)),
      (412, .no(.conditional)),
    ]
      as [(Int, Storability)])
  func conditional(_ status: Int, _ expected: Storability) {
    let decided = Storability.decide(
      request: Messages.request(), response: Messages.response(["Cache-Control: max-age=600"], status: status),
      framing: .length(10), isConditional: true, policy: CachePolicy(), receivedAt: Messages.now)
    #expect(decided == expected)
  }

  @Test("keeps nothing of what a request with another method, path or host than its own was given")
  func overridden() {
    for name in ["X-HTTP-Method-Override", "x-original-url", "X_REWRITE_URL", "X-Host"] {
      let row = Row(request: ["\(name): x"], response: ["Cache-Control: max-age=10"], expected: .no(.override))
      #expect(Self.decide(row) == row.expected, "\(name)")
    }
  }

  @Test(
    "keeps other statuses when they will be used again",
    arguments: [
      Row(status: 404, response: [], expected: .no(.noFreshness)),
      Row(status: 404, response: ["Cache-Control: max-age=10"], expected: .shared),
      Row(status: 404, response: ["Cache-Control: max-age=0"], expected: .no(.noFreshness)),
      Row(status: 404, response: ["Cache-Control: max-age=0", "ETag: \"a\""], expected: .shared),
      Row(status: 404, response: [Messages.dated("Last-Modified", -1000)], expected: .shared),
      Row(status: 404, response: [], policy: CachePolicy(defaultTTL: 10), expected: .shared),
      Row(status: 502, response: [Messages.dated("Last-Modified", -1000)], expected: .no(.noFreshness)),
      Row(status: 502, response: [], policy: CachePolicy(defaultTTL: 10), expected: .no(.noFreshness)),
      Row(status: 599, response: ["Cache-Control: max-age=10"], expected: .shared),
      Row(status: 299, response: [Messages.dated("Expires", 10)], expected: .shared),
      Row(
        status: 599, response: ["Cache-Control: public", Messages.dated("Last-Modified", -1000)], expected: .shared),
      Row(status: 201, response: [Messages.dated("Last-Modified", -1000)], expected: .no(.noFreshness)),
      Row(status: 206, response: ["Cache-Control: max-age=10"], expected: .no(.status)),
      Row(status: 304, response: ["Cache-Control: max-age=10"], expected: .no(.status)),
      Row(status: 103, response: ["Cache-Control: max-age=10"], expected: .no(.status)),
    ])
  func statuses(_ row: Row) { #expect(Self.decide(row) == row.expected) }

  @Test(
    "obeys must-understand for statuses it knows, and only then",
    arguments: [
      (200, ["Cache-Control: max-age=10, no-store, must-understand"], .shared),
      (599, ["Cache-Control: max-age=10, no-store, must-understand"], .no(.noStore)),
      (599, ["Cache-Control: max-age=10, must-understand"], .no(.noStore)),
    ] as [(Int, [String], Storability)])
  func mustUnderstand(_ status: Int, _ response: [String], _ expected: Storability) {
    #expect(Self.decide(Row(status: status, response: response, expected: expected)) == expected)
  }

  @Test(
    "keeps only GET, and a POST that answers for its own URL",
    arguments: [
      Row(method: .head, response: ["Cache-Control: max-age=10"], expected: .no(.method)),
      Row(method: .put, response: ["Cache-Control: max-age=10"], expected: .no(.method)),
      Row(method: .post, response: ["Cache-Control: max-age=10"], expected: .no(.method)),
      Row(method: .post, response: ["Cache-Control: max-age=10", "Content-Location: /dir/file"], expected: .shared),
      Row(method: .post, response: ["Cache-Control: max-age=10", "Content-Location: file"], expected: .shared),
      Row(
        method: .post, response: ["Cache-Control: max-age=10", "Content-Location: http://example.org/dir/file"],
        expected: .shared),
      Row(method: .post, response: ["Cache-Control: max-age=10", "Content-Location: /other"], expected: .no(.method)),
      Row(method: .post, response: ["Content-Location: /dir/file"], expected: .no(.method)),
      Row(
        method: .post, response: ["Cache-Control: max-age=0", "Content-Location: /dir/file"],
        expected: .no(.noFreshness)),
    ])
  func methods(_ row: Row) { #expect(Self.decide(row) == row.expected) }

  @Test(
    "goes by CDN-Cache-Control where it can be used (RFC 9213)",
    arguments: [
      (["CDN-Cache-Control: max-age=10", "Cache-Control: no-store"], .shared),
      (["CDN-Cache-Control: no-store", "Cache-Control: max-age=10"], .no(.noStore)),
      (["CDN-Cache-Control: private", "Cache-Control: max-age=10"], .no(.isPrivate)),
      (["CDN-Cache-Control: max-age=10, &&&&&", "Cache-Control: no-store"], .no(.noStore)),
      (["CDN-Cache-Control: max-age=\"10\"", "Cache-Control: no-store"], .no(.noStore)),
    ] as [([String], Storability)])
  func targeted(_ response: [String], _ expected: Storability) {
    #expect(Self.decide(Row(response: response, expected: expected)) == expected)
  }

  @Test(
    "keeps uncacheable bodies for their own user where the route says so",
    arguments: [
      Row(response: ["Cache-Control: private"], expected: .privately),
      Row(request: ["Authorization: x"], response: [], expected: .privately),
      Row(response: ["Set-Cookie: a=b"], expected: .privately),
      Row(response: ["Vary: *"], expected: .privately),
      Row(response: ["Cache-Control: no-store"], expected: .no(.noStore)),
      Row(response: ["Cache-Control: no-store, private"], expected: .no(.noStore)),
      Row(request: ["Cache-Control: no-store"], response: [], expected: .no(.requestNoStore)),
      Row(status: 404, response: ["Cache-Control: private"], expected: .no(.isPrivate)),
      Row(method: .post, response: ["Cache-Control: private"], expected: .no(.method)),
      Row(response: ["Content-Type: text/event-stream"], expected: .no(.liveStream)),
      Row(response: [], expected: .shared),
    ])
  func privately(_ row: Row) {
    var row = row
    row.policy.resumePrivate = 900
    #expect(Self.decide(row) == row.expected)
  }

  @Test("keeps no-store bodies for their own user only where the route says that too")
  func privatelyNoStore() {
    let policy = CachePolicy(resumePrivate: 900, resumePrivateNoStore: true)
    for row in [
      Row(response: ["Cache-Control: no-store"], policy: policy, expected: .privately),
      Row(request: ["Cache-Control: no-store"], response: [], policy: policy, expected: .privately),
      Row(
        response: ["Cache-Control: no-store"], policy: CachePolicy(resumePrivateNoStore: true), expected: .no(.noStore)),
    ] { #expect(Self.decide(row) == row.expected) }
  }
}
