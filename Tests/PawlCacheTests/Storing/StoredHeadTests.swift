import PawlCache
import PawlHTTP
import Testing

@Suite("Stored head") struct StoredHeadTests {
  @Test("keeps end-to-end fields as they came, and nothing of one connection or client")
  func fields() {
    let stored = Messages.stored([
      "Date: x", "A: 1", "Connection: b, close", "B: 2", "Keep-Alive: 5", "Set-Cookie: a=b", "Set-Cookie2: a=c",
      "Content-Length: 10", "Transfer-Encoding: chunked", "TE: x", "Upgrade: x", "Proxy-Authenticate: x",
      "Content-Range: garbage", "A: 3", "ETag: \"\u{fc}\"",
    ])
    #expect(
      stored.fields
        == Messages.fields([
          "Date: x", "A: 1", "Set-Cookie2: a=c", "A: 3", "ETag: \"\u{fc}\"",
        ]))
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var response: [String]
    var first: [String]
    var second: [String]
    var asksIdentity = true
    var expected: Bool
    var testDescription: String { "\(response): \(first) for \(second)" }
  }

  @Test(
    "is selected by what Vary names",
    arguments: [
      Row(response: [], first: [], second: ["Foo: 1"], expected: true),
      Row(response: ["Vary: Foo"], first: ["Foo: 1"], second: ["Foo: 1"], expected: true),
      Row(response: ["Vary: Foo"], first: ["Foo: 1"], second: ["foo:  1 "], expected: true),
      Row(response: ["Vary: Foo"], first: ["Foo: 1"], second: ["Foo: 2"], expected: false),
      Row(response: ["Vary: Foo"], first: ["Foo: 1"], second: [], expected: false),
      Row(response: ["Vary: Foo", "Vary: Bar"], first: ["Foo: 1"], second: ["Foo: 1", "Bar: 1"], expected: false),
      Row(
        response: ["Vary: Accept-Language"], first: ["Accept-Language: en, de"], second: ["Accept-Language: eN,De"],
        expected: true),
      Row(response: ["Vary: *"], first: [], second: [], expected: false),
      // The origin is asked for identity: what the client accepts chooses nothing.
      Row(response: ["Vary: Accept-Encoding"], first: ["Accept-Encoding: gzip"], second: [], expected: true),
      Row(
        response: ["Vary: Accept-Encoding"], first: ["Accept-Encoding: gzip"], second: [], asksIdentity: false,
        expected: false),
      // A coded response was chosen by Accept-Encoding, whether it says so or not.
      Row(
        response: ["Content-Encoding: gzip"], first: ["Accept-Encoding: gzip"], second: ["Accept-Encoding: br"],
        asksIdentity: false, expected: false),
      Row(
        response: ["Content-Encoding: gzip"], first: ["Accept-Encoding: gzip"], second: ["Accept-Encoding: gzip"],
        asksIdentity: false, expected: true),
      Row(
        response: ["Content-Encoding: identity"], first: ["Accept-Encoding: gzip"], second: [], asksIdentity: false,
        expected: true),
    ])
  func selection(_ row: Row) {
    let stored = Messages.stored(row.response, request: Messages.request(row.first), asksIdentity: row.asksIdentity)
    #expect(stored.isSelected(by: Messages.request(row.second), asksIdentity: row.asksIdentity) == row.expected)
  }

  @Test(
    "is for one page's origin where that is what it echoes",
    arguments: [
      (["Access-Control-Allow-Origin: https://a"], "Origin: https://a", "Origin: https://b", false),
      (["Access-Control-Allow-Origin: https://a"], "Origin: https://a", "Origin: https://a", true),
      (["Access-Control-Allow-Origin: https://a"], "Origin: https://b", "Origin: https://c", true),
      (["Access-Control-Allow-Origin: *"], "Origin: https://a", "Origin: https://b", true),
      (["access-control-allow-origin: https://a"], "Origin: https://a", "X: no origin", false),
    ])
  func echoes(_ response: [String], _ first: String, _ second: String, _ expected: Bool) {
    let stored = Messages.stored(response, request: Messages.request([first]))
    #expect(stored.isSelected(by: Messages.request([second]), asksIdentity: true) == expected)
  }

  @Test(
    "is for the same cookies where it does not say that it is for everybody",
    arguments: [
      Row(response: [], first: ["Cookie: a"], second: ["Cookie: a"], expected: true),
      Row(response: [], first: ["Cookie: a"], second: ["Cookie: b"], expected: false),
      Row(response: [], first: ["Cookie: a"], second: [], expected: false),
      Row(response: [], first: [], second: ["Cookie: a"], expected: false),
      Row(response: [], first: [], second: [], expected: true),
      Row(response: ["Cache-Control: max-age=0"], first: [], second: ["Cookie: a"], expected: false),
      Row(response: ["Cache-Control: max-age=9"], first: ["Cookie: a"], second: ["Cookie: b"], expected: true),
      Row(response: ["Cache-Control: public"], first: [], second: ["Cookie: b"], expected: true),
    ])
  func cookies(_ row: Row) {
    let (request, response) = (Messages.request(row.first), Messages.response(row.response))
    let storability = Storability.decide(
      request: request, response: response, framing: .none, policy: CachePolicy(), receivedAt: Messages.now)
    let stored = Messages.stored(row.response, request: request, storability: storability)
    #expect(stored.isSelected(by: Messages.request(row.second), asksIdentity: true) == row.expected)
  }
}
