import PawlCache
import PawlHTTP
import Testing

@Suite("The head of an answer that continues a body (RFC 9111 §3.4)") struct ContinuedHeadTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var stored: [String]
    var request: [String] = []
    var status = 200
    var answer: [String]
    var expected: String
    var testDescription: String { "\(stored), \(request) -> \(status) \(answer)" }
  }

  private static func judge(_ row: Row) -> String {
    let request = Messages.request(row.request)
    let storability = Storability.decide(
      request: request, response: Messages.response(row.stored), framing: .chunked, policy: CachePolicy(),
      receivedAt: Messages.now)
    let stored = Messages.stored(row.stored, age: 30, request: request, storability: storability)
    switch judgeContinuedHead(
      of: stored, by: Messages.response(row.answer, status: row.status), request: request, policy: CachePolicy(),
      requestTime: Messages.now, responseTime: Messages.now)
    {
    case .agrees: return "agrees"
    case .freshens: return "freshens"
    case .narrower(let why): return why.rawValue
    }
  }

  private static let minute = "Cache-Control: max-age=60"

  @Test(
    "is judged as if it had come first",
    arguments: [
      Row(stored: [], answer: [], expected: "agrees"),
      Row(stored: [minute], answer: [minute], expected: "agrees"),
      Row(stored: [minute], answer: ["Cache-Control: private"], expected: "not-storable"),
      Row(stored: [minute], answer: ["Cache-Control: private, no-store"], expected: "not-storable"),
      Row(stored: [minute], answer: ["Cache-Control: no-store"], expected: "not-storable"),
      Row(stored: [minute], answer: [minute, "Set-Cookie: a=b"], expected: "not-storable"),
      Row(stored: ["Cache-Control: public"], answer: ["Cache-Control: public", "Set-Cookie: a=b"], expected: "agrees"),
      Row(stored: [minute], answer: [minute, "Vary: Cookie"], expected: "vary"),
      Row(stored: [minute, "Vary: Foo"], answer: [minute], expected: "vary"),
      Row(stored: [minute], answer: [minute, "Vary: *"], expected: "not-storable"),
      Row(stored: [minute], answer: [minute, "Content-Language: de"], expected: "other-metadata"),
      Row(stored: [minute, "Content-Language: de"], answer: [minute, "Content-Language: de"], expected: "agrees"),
      Row(
        stored: [minute, "Content-Disposition: a"], answer: [minute, "Content-Disposition: b"],
        expected: "other-metadata"),
      Row(stored: [minute], answer: [], expected: "audience"),
      Row(stored: [minute], answer: ["Cache-Control: max-age=0"], expected: "audience"),
      Row(stored: [minute], answer: ["Cache-Control: max-age=9"], expected: "freshens"),
      Row(stored: [minute], answer: ["Cache-Control: no-cache, max-age=9"], expected: "freshens"),
      Row(stored: [], request: ["Cookie: a=b"], answer: [], expected: "agrees"),
      Row(stored: ["ETag: \"x\"", "Set-Cookie: a=b"], answer: ["ETag: \"x\"", "Set-Cookie: a=c"], expected: "agrees"),
      Row(stored: ["ETag: \"x\"", "Set-Cookie: a=b"], answer: ["ETag: \"x\""], expected: "agrees"),
      Row(
        stored: ["ETag: \"x\"", "Set-Cookie: a=b"], answer: ["ETag: \"y\"", "Set-Cookie: a=c"],
        expected: "not-storable"),
      Row(
        stored: ["ETag: \"x\"", "Set-Cookie: a=b"], answer: ["ETag: \"x\"", "Cache-Control: private"],
        expected: "not-storable"),
      Row(
        stored: [minute, "ETag: \"x\""], answer: [minute, "ETag: \"x\"", "Set-Cookie: a=c"], expected: "not-storable"),
      Row(stored: [minute], request: ["Cookie: a=b"], answer: [], expected: "audience"),
      // It becomes nobody's who could not have had its beginning.
      Row(stored: [], request: ["Cookie: a=b"], answer: [minute], expected: "agrees"),
      Row(
        stored: ["Cache-Control: must-revalidate"], request: ["Cookie: a=b"], status: 206, answer: [minute],
        expected: "agrees"),
      Row(stored: [], answer: ["Cache-Control: public"], expected: "agrees"),
      Row(stored: ["Cache-Control: public"], request: ["Authorization: x"], answer: [minute], expected: "not-storable"),
      // The date of expiry has come during a long transfer: nothing else has changed.
      Row(stored: [Messages.dated("Expires", -5)], answer: [Messages.dated("Expires", -5)], expected: "agrees"),
      // A part need not repeat what the whole has.
      Row(
        stored: [minute, "Vary: Foo", "Content-Language: de"], status: 206, answer: ["ETag: \"a\""], expected: "agrees"),
      Row(stored: [minute], status: 206, answer: ["Cache-Control: private"], expected: "not-storable"),
      Row(stored: [minute], status: 206, answer: ["Vary: Cookie"], expected: "vary"),
      Row(stored: [minute], status: 206, answer: ["Content-Type: multipart/byteranges"], expected: "agrees"),
      Row(stored: [minute], status: 206, answer: ["Set-Cookie: a=b"], expected: "not-storable"),
      // What it says of freshness is all that counts of that.
      Row(
        stored: ["CDN-Cache-Control: max-age=60", "Cache-Control: private"], status: 206,
        answer: ["Cache-Control: private"], expected: "not-storable"),
    ])
  func judges(_ row: Row) { #expect(Self.judge(row) == row.expected) }

  @Test("a whole that renews a body takes back what the first one said of freshness", arguments: [200, 206])
  func renewal(_ status: Int) throws {
    let judged = judgeContinuedHead(
      of: Messages.stored(["CDN-Cache-Control: max-age=60", "Cache-Control: private", "X: 1"]),
      by: Messages.response(["Cache-Control: max-age=9", "X: 1"], status: status), request: Messages.request(),
      policy: CachePolicy(), requestTime: Messages.now, responseTime: Messages.now)
    guard case .freshens(let head) = judged else { return #expect(Bool(false), "\(judged)") }
    #expect(head.fields == Messages.fields(["Cache-Control: max-age=9", "X: 1", Messages.dated("Date")]))
  }

  @Test(
    "a body grows by the requests only whose answers could be kept with it",
    arguments: [
      ([minute], [], true), ([minute], ["Cookie: a=b"], true), ([], ["Cookie: a=b"], false), ([], [], true),
      ([minute], ["Authorization: x"], false), (["Cache-Control: public"], ["Authorization: x"], true),
      ([minute], ["X-Original-URL: /"], false), ([minute], ["Cache-Control: no-store"], false),
    ] as [([String], [String], Bool)])
  func growth(_ stored: [String], _ request: [String], _ expected: Bool) {
    #expect(Messages.stored(stored).mayGrow(by: Messages.request(request), policy: CachePolicy()) == expected)
  }
}
