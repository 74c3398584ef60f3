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

  @Test("takes a new Vary over when the request is known, and not otherwise")
  func vary() {
    let request = Messages.request(["Foo: 1", "Bar: 2"])
    let stored = Messages.stored(["Vary: Foo"], request: request)
    let answer = Messages.response(["Vary: Foo, Bar"], status: 304)
    func merge(_ answer: ResponseHead, knowing: Bool) -> StoredHead {
      mergeNotModified(
        stored, answer, requestTime: Messages.now, responseTime: Messages.now,
        request: knowing ? (head: request, asksIdentity: true) : nil)
    }
    #expect(merge(answer, knowing: false).vary == stored.vary)
    #expect(merge(answer, knowing: false).isSelected(by: Messages.request(["Foo: 1"]), asksIdentity: true))
    #expect(!merge(answer, knowing: true).isSelected(by: Messages.request(["Foo: 1"]), asksIdentity: true))
    #expect(merge(answer, knowing: true).isSelected(by: request, asksIdentity: true))
    #expect(merge(Messages.response(["Vary: *"], status: 304), knowing: true).vary == stored.vary)
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
