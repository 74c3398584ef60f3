import PawlCache
import PawlHTTP
import Testing

@Suite("What a stored head does not say") struct StoredFieldsTests {
  @Test(
    "what contradicts the answers that are made of it",
    arguments: [
      (["Content-Range: bytes 0-4/10", "A: 1", "Content-Range: x"], ["A: 1"]),
      (["ETag: \"a\"", "A: 1", "ETag: \"b\""], ["A: 1"]), (["ETag: \"a\"", "etag: \"a\""], []),
      (["ETag: \"a\""], ["ETag: \"a\""]), (["ETag: bare"], ["ETag: bare"]),
      (["Last-Modified: x", "Last-Modified: y", "B: 1"], ["B: 1"]), (["Last-Modified: x"], ["Last-Modified: x"]),
      (["X-Request-Id: 1", "Alt-Svc: h3", "C: 1"], ["C: 1"]),
      // Lists, and what the answer replaces.
      (["Content-Type: a", "Content-Type: b"], ["Content-Type: a", "Content-Type: b"]),
      (["Accept-Ranges: none", "Via: 1.1 a", "Via: 1.1 b"], ["Accept-Ranges: none", "Via: 1.1 a", "Via: 1.1 b"]),
    ])
  func consistent(_ lines: [String], _ kept: [String]) throws {
    let date = Messages.dated("Date")
    let stored = Messages.stored([date] + lines)
    #expect(stored.fields == Messages.fields([date] + kept))
    #expect(try #require(StoredHead(serialized: stored.serialize())) == stored)
  }

  @Test("two dates are none; the place that a 416 tells stays")
  func others() {
    let twice = Messages.stored([Messages.dated("Date"), Messages.dated("Date", -5), "A: 1"])
    #expect(twice.fields == Messages.fields(["A: 1"]))
    #expect(
      Messages.stored(["Content-Range: bytes */10"], status: 416).fields.first(.contentRange)?.text == "bytes */10")
  }

  @Test("a 304 does not bring it back")
  func merged() {
    let stored = Messages.stored(["ETag: \"a\""])
    let merged = mergeNotModified(
      stored, Messages.response(["X-Request-Id: 1", "Alt-Svc: h3", "A: 1"], status: 304), requestTime: Messages.now,
      responseTime: Messages.now)
    #expect(!merged.fields.contains(.xRequestID) && !merged.fields.contains(.altSvc))
    #expect(merged.fields.all(named: "a".utf8).count == 1)
  }

  @Test("parts are given of what is not parts itself, and of a 200")
  func parts() {
    #expect(Messages.stored(["Content-Type: text/plain"]).givesParts && Messages.stored([]).givesParts)
    #expect(!Messages.stored([], status: 404).givesParts)
    #expect(!Messages.stored(["Content-Type: multipart/byteranges; boundary=b"]).givesParts)
    #expect(!Messages.stored(["Content-Type: a/b", "Content-Type: Multipart/Byteranges"]).givesParts)
    #expect(Messages.stored(["Content-Type: multipart/form-data; boundary=b"]).givesParts)
  }

  @Test("who asks with identity, whatever its client accepts, is given what was fetched like that")
  func identity() {
    func isOne(_ lines: [String], _ asked: [String], asksIdentity: Bool) -> Bool {
      Messages.stored(lines, request: Messages.request(asked), asksIdentity: asksIdentity).isOfIdentityRequests
    }
    let (vary, gzip) = ("Vary: Accept-Encoding", "Accept-Encoding: gzip")
    #expect(isOne([], [gzip], asksIdentity: false) && isOne([], [], asksIdentity: true))
    #expect(isOne([vary], [gzip], asksIdentity: true))
    #expect(isOne([vary], ["Accept-Encoding: Identity"], asksIdentity: false))
    #expect(!isOne([vary], [gzip], asksIdentity: false) && !isOne([vary], [], asksIdentity: false))
    #expect(!isOne(["Content-Encoding: gzip"], [gzip], asksIdentity: false))
    #expect(isOne(["Content-Encoding: gzip"], [gzip], asksIdentity: true))
    #expect(!isOne(["Vary: *"], [], asksIdentity: true) && !isOne(["Vary: Foo"], [], asksIdentity: true))
    #expect(!isOne(["Vary: Accept-Encoding, Foo"], [], asksIdentity: true))
  }
}
