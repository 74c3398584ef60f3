import PawlCache
import PawlHTTP
import Testing

@Suite("What a request's fields say of whose answer it gets") struct RequestFieldsTests {
  @Test(
    "knows credentials, and what is personal",
    arguments: [
      ([], false, false), (["Cookie: a=b"], false, true), (["Authorization: x"], true, true),
      (["Client-Cert: :AA==:"], true, true), (["client_cert_chain: x"], true, true),
      (["X-Client-Cert: x"], false, false),
    ] as [([String], Bool, Bool)])
  func credentials(_ lines: [String], _ isCredential: Bool, _ isPersonal: Bool) {
    let fields = Messages.fields(lines)
    #expect(RequestFields.hasCredential(fields) == isCredential)
    #expect(RequestFields.isPersonal(fields) == isPersonal)
  }

  @Test(
    "knows fields that ask for something else than the URL",
    arguments: [
      ("X-HTTP-Method-Override: PUT", true), ("x-http_method: PUT", true), ("X-Original-URL: /admin", true),
      ("X-Rewrite-Url: /", true), ("X-Host: evil", true), ("X-Forwarded-For: 1.2.3.4", false), ("X-Hosts: a", false),
    ])
  func overrides(_ line: String, _ expected: Bool) {
    #expect(RequestFields.hasOverride(Messages.fields([line])) == expected)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var one: [String]
    var other: [String]
    var isSame: Bool
    var testDescription: String { "\(status): \(one) and \(other)" }
  }

  @Test(
    "keeps errors apart by what may have provoked them",
    arguments: [
      Row(status: 200, one: ["X-Odd: 1"], other: [], isSame: true),
      Row(status: 404, one: ["X-Odd: 1"], other: [], isSame: false),
      Row(status: 404, one: ["X-Odd: 1"], other: ["x-odd: 2"], isSame: true),
      // Of fields that any browser sends the usual values do not count, but that they are there does.
      Row(
        status: 404, one: ["User-Agent: Mozilla/5.0 (X11) a", "Cookie: a"],
        other: ["user-agent: Mozilla/5.0 (Mac) b", "Cookie: b"], isSame: true),
      Row(status: 404, one: ["User-Agent: Mozilla/5.0 (X11) a"], other: [], isSame: false),
      Row(status: 404, one: ["User-Agent: bot"], other: ["User-Agent: curl/8"], isSame: false),
      Row(status: 404, one: ["Accept: text/html, */*;q=0.1"], other: ["Accept: */*"], isSame: true),
      Row(status: 404, one: ["Accept: text/x-none"], other: ["Accept: */*"], isSame: false),
      Row(status: 301, one: ["Accept-Language: de-CH, en;q=0.5"], other: ["Accept-Language: fr"], isSame: true),
      Row(status: 410, one: ["Accept-Language: x-none"], other: ["Accept-Language: fr"], isSame: false),
      Row(status: 410, one: ["Accept-Encoding: gzip, br;q=0.5"], other: ["Accept-Encoding: zstd"], isSame: true),
      Row(status: 410, one: ["Referer: http://a/"], other: ["Referer: http://b/"], isSame: false),
      Row(
        status: 410, one: ["Sec-Fetch-Mode: cors", "DNT: 1"], other: ["DNT: 0", "Sec-Fetch-Mode: no-cors"], isSame: true
      ),
      Row(
        status: 400, one: ["User-Agent: Mozilla/5.0 (X11) a"], other: ["User-Agent: Mozilla/5.0 (Mac) b"], isSame: false
      ),
      Row(status: 400, one: ["User-Agent: a", "X: 1"], other: ["X: 2", "user-agent: a"], isSame: true),
      Row(status: 503, one: ["Cookie: a"], other: ["Cookie: b"], isSame: false),
      Row(status: 503, one: ["TE: trailers"], other: [], isSame: false),
      Row(
        status: 503, one: ["Traceparent: 00-0af7-00", "X-Request-Id: 1a-b", "Host: a", "Range: x"], other: [],
        isSame: true),
      Row(status: 503, one: ["X-Request-Id: odd"], other: [], isSame: false),
      // A long value counts from one byte past the limit.
      Row(status: 431, one: ["X: " + String(repeating: "a", count: 64)], other: ["X: b"], isSame: true),
      Row(status: 431, one: ["X: " + String(repeating: "a", count: 65)], other: ["X: b"], isSame: false),
    ])
  func errors(_ row: Row) {
    let (one, other) = (Messages.fields(row.one), Messages.fields(row.other))
    #expect(
      (RequestFields.errorKey(status: row.status, one) == RequestFields.errorKey(status: row.status, other))
        == row.isSame)
  }

  @Test("gives an error to requests that look like the one that was answered with it, and to no others")
  func selection() {
    let odd = Messages.request(["X-Odd: 1"])
    let stored = Messages.stored(["Cache-Control: max-age=600"], status: 400, request: odd)
    #expect(stored.isSelected(by: odd, asksIdentity: true))
    #expect(!stored.isSelected(by: Messages.request(), asksIdentity: true))
    #expect(StoredHead(serialized: stored.serialize()) == stored)
  }
}
