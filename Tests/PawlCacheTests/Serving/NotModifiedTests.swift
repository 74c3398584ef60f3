import PawlCache
import PawlHTTP
import Testing

@Suite("304 (RFC 9111 §3.2, §4.3.4)") struct NotModifiedTests {
  @Test("replaces what it names, and keeps the rest")
  func merges() {
    let stored = Messages.stored(
      ["ETag: \"a\"", "X-Test: 1", "Content-Foo: 1", "Cache-Control: max-age=1", "Kept: 1", "Age: 7"], age: 50)
    let answer = Messages.response(
      [
        "X-TEST: 2", "x-test: 3", "Content-Foo: 2", "Cache-Control: max-age=3600", "New: 1", "Set-Cookie: a=b",
        "Connection: hop", "Hop: 1", "Content-Length: 0", Messages.dated("Date"),
      ], status: 304)
    let merged = mergeNotModified(stored, answer, requestTime: Messages.now - 1, responseTime: Messages.now)
    #expect(
      merged.fields
        == Messages.fields([
          "ETag: \"a\"", "Kept: 1", "X-TEST: 2", "x-test: 3", "Content-Foo: 2", "Cache-Control: max-age=3600", "New: 1",
          Messages.dated("Date"),
        ]))
    #expect(merged.cacheControl.maxAge == 3600)
    #expect((merged.requestTime, merged.responseTime) == (Messages.now - 1, Messages.now))
    #expect(Freshness.evaluate(merged, policy: CachePolicy(), now: Messages.now).age == 1)
    #expect(merged.status == 200)
  }

  @Test("dates the response anew even when it bears no Date")
  func undated() {
    let merged = mergeNotModified(
      Messages.stored(["Cache-Control: max-age=10"], age: 50), Messages.response([], status: 304),
      requestTime: Messages.now, responseTime: Messages.now)
    #expect(merged.fields == Messages.fields(["Cache-Control: max-age=10", Messages.dated("Date")]))
    #expect(Freshness.evaluate(merged, policy: CachePolicy(), now: Messages.now).isFresh)
  }

  @Test(
    "leaves alone what describes the bytes that are held",
    arguments: [
      "ETag: W/\"a\"", "Last-Modified: Sat, 01 Jan 2022 00:00:00 GMT", "Content-Encoding: gzip", "Content-Range: x",
    ])
  func keepsIdentity(_ line: String) {
    let own = [
      "ETag: \"a\"", "Last-Modified: Fri, 01 Jan 2021 00:00:00 GMT", "Content-Encoding: br",
    ]
    let stored = Messages.stored(own)
    let merged = mergeNotModified(
      stored, Messages.response([line], status: 304), requestTime: Messages.now, responseTime: Messages.now)
    #expect(merged.fields == Messages.fields(own + [Messages.dated("Date")]))
    #expect(merged.validators == stored.validators)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var stored: [String]
    var first: [String] = []
    var request: [String] = []
    var answer: [String]
    var expected: Kind
    var testDescription: String { "\(stored) of \(first), \(request) -> 304 \(answer)" }
  }

  enum Kind: Hashable, Sendable { case unrelated, freshens, confirmsAlone, confirmsAndExtends }

  private static func effect(_ row: Row) -> NotModifiedEffect {
    let first = Messages.request(row.first)
    let storability = Storability.decide(
      request: first, response: Messages.response(row.stored), framing: .chunked, policy: CachePolicy(),
      receivedAt: Messages.now)
    return judgeNotModified(
      Messages.stored(row.stored, age: 50, request: first, storability: storability),
      Messages.response(row.answer, status: 304), request: Messages.request(row.request), policy: CachePolicy(),
      requestTime: Messages.now, responseTime: Messages.now)
  }

  @Test(
    "freshens for others what a 200 to the same request could be stored as, and no more",
    arguments: [
      Row(stored: ["ETag: \"a\""], answer: [], expected: .freshens),
      Row(stored: ["ETag: \"a\""], answer: ["ETag: \"b\""], expected: .unrelated),
      Row(stored: ["ETag: \"a\"", "Vary: Foo"], answer: ["Vary: Foo, Bar"], expected: .unrelated),
      Row(stored: ["ETag: \"a\"", "Vary: Foo"], answer: ["Vary: *"], expected: .unrelated),
      Row(stored: ["ETag: \"a\"", "Vary: Foo"], answer: ["vary: foo"], expected: .freshens),
      Row(stored: ["ETag: \"a\"", "Vary: Foo"], answer: [], expected: .freshens),
      // It may not be shared any more.
      Row(stored: ["Cache-Control: max-age=1"], answer: ["Cache-Control: private"], expected: .confirmsAlone),
      Row(stored: ["Cache-Control: max-age=1"], answer: ["Cache-Control: no-store"], expected: .confirmsAlone),
      Row(stored: ["Cache-Control: max-age=1"], answer: ["Set-Cookie: a=b"], expected: .confirmsAlone),
      Row(
        stored: ["Cache-Control: public"], answer: ["Set-Cookie: a=b", "Cache-Control: public"], expected: .freshens),
      // Asked by one who shows a cookie.
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Cookie: a=b"], answer: ["X-Name: Alice"],
        expected: .confirmsAndExtends),
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Cookie: a=b"], answer: ["Cache-Control: max-age=9"],
        expected: .freshens),
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Cookie: a=b"], answer: ["Cache-Control: private, max-age=9"],
        expected: .confirmsAlone),
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Cookie: a=b"], answer: ["Cache-Control: max-age=0"],
        expected: .confirmsAlone),
      Row(
        stored: ["ETag: \"a\""], first: ["Cookie: a=b"], request: ["Cookie: a=b"], answer: ["X: 1"], expected: .freshens
      ),
      // Asked by one who shows a credential.
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Authorization: x"], answer: ["X-Name: Alice"],
        expected: .confirmsAlone),
      Row(
        stored: ["Cache-Control: public, max-age=1"], request: ["Authorization: x"], answer: ["X-Name: Alice"],
        expected: .confirmsAndExtends),
      Row(
        stored: ["Cache-Control: public, max-age=1"], request: ["Authorization: x"], answer: ["Cache-Control: public"],
        expected: .freshens),
      Row(
        stored: ["Cache-Control: max-age=1"], request: ["Client-Cert: :AA==:"], answer: [], expected: .confirmsAlone),
    ])
  func effects(_ row: Row) {
    let kind: Kind =
      switch Self.effect(row) {
      case .unrelated: .unrelated
      case .freshens: .freshens
      case .confirms(_, nil): .confirmsAlone
      case .confirms(_, _?): .confirmsAndExtends
      }
    #expect(kind == row.expected)
  }

  @Test("gives the others nothing but the time, and the one who asked all of it")
  func ownAndShared() {
    let effect = Self.effect(
      Row(
        stored: ["Cache-Control: public, max-age=1", "X-Name: nobody"], request: ["Cookie: a=b"],
        answer: ["X-Name: Alice", Messages.dated("Date")], expected: .confirmsAndExtends))
    guard case .confirms(let own, let shared?) = effect else { return #expect(Bool(false), "\(effect)") }
    #expect(own.fields.combined(named: Bytes("X-Name"))?.text == "Alice")
    #expect(shared.fields.combined(named: Bytes("X-Name"))?.text == "nobody")
    #expect(Freshness.evaluate(shared, policy: CachePolicy(), now: Messages.now).isFresh)
  }

  @Test(
    "speaks of the response whose validators it names",
    arguments: [
      (["ETag: \"a\""], ["ETag: \"a\""], true), (["ETag: \"a\""], ["ETag: \"b\""], false), (["ETag: \"a\""], [], true),
      (["ETag: \"a\""], ["ETag: W/\"a\""], true), (["ETag: W/\"a\""], ["ETag: W/\"a\""], true),
      (["ETag: W/\"a\""], ["ETag: \"a\""], false), ([], ["ETag: \"a\""], false), ([], [], true),
      ([Messages.dated("Last-Modified", -90)], [Messages.dated("Last-Modified", -90)], true),
      ([Messages.dated("Last-Modified", -90)], [Messages.dated("Last-Modified", -80)], false),
      (
        ["ETag: \"a\"", Messages.dated("Last-Modified", -90)], ["ETag: \"a\"", Messages.dated("Last-Modified", -80)],
        true
      ),
    ] as [([String], [String], Bool)])
  func confirmation(_ own: [String], _ named: [String], _ expected: Bool) {
    #expect(confirms(Messages.response(named, status: 304), Messages.stored(own)) == expected)
  }
}
