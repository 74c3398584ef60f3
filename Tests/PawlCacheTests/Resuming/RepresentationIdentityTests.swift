import PawlCache
import PawlHTTP
import Testing

@Suite("Representation identity") struct RepresentationIdentityTests {
  private static func identity(
    _ lines: [String], status: Int = 200, framing: BodyFraming = .length(1000)
  ) -> RepresentationIdentity {
    RepresentationIdentity(
      head: Messages.response(lines, status: status), framing: framing, receivedAt: Messages.now)
  }

  @Test(
    "knows what a range request may be tied to",
    arguments: [
      ([], nil), (["ETag: \"a\""], "\"a\""), (["ETag: W/\"a\""], nil), (["ETag: a"], nil),
      (["ETag: \"a\"", "ETag: \"b\""], nil),
      ([Messages.dated("Last-Modified", -60), Messages.dated("Date")], "Sat, 21 Nov 2026 09:59:00 GMT"),
      ([Messages.dated("Last-Modified", -59), Messages.dated("Date")], nil),
      // Without a Date of the origin's, nothing says how old the content was when it was sent.
      ([Messages.dated("Last-Modified", -6000)], nil),
      (["ETag: \"a\"", Messages.dated("Last-Modified", -60), Messages.dated("Date")], "\"a\""),
      (
        ["ETag: W/\"a\"", Messages.dated("Last-Modified", -60), Messages.dated("Date")], "Sat, 21 Nov 2026 09:59:00 GMT"
      ),
      (
        ["Last-Modified: Saturday, 21-Nov-26 09:59:00 GMT", Messages.dated("Date")], "Saturday, 21-Nov-26 09:59:00 GMT"
      ),
      (["Last-Modified: garbage", Messages.dated("Date")], nil),
    ] as [([String], String?)])
  func validators(_ lines: [String], _ expected: String?) {
    #expect(Self.identity(lines).strongValidator?.ifRange == expected.map { Array($0.utf8) })
  }

  @Test("knows the length where it is told")
  func totals() {
    #expect(Self.identity([]).total == 1000)
    #expect(Self.identity([], framing: .chunked).total == nil)
    #expect(Self.identity([], framing: .untilClose).total == nil)
    #expect(Self.identity(["Content-Range: bytes 0-9/50"]).total == 1000)
    #expect(Self.identity(["Content-Range: bytes 0-9/50"], status: 206, framing: .length(10)).total == 50)
    #expect(Self.identity(["Content-Range: bytes 0-9/*"], status: 206, framing: .length(10)).total == nil)
    #expect(Self.identity([], status: 206, framing: .length(10)).total == nil)
  }

  @Test(
    "compares codings without regard to case, and identity as none",
    arguments: [
      ([], nil), (["Content-Encoding: identity"], nil), (["Content-Encoding:"], nil),
      (["Content-Encoding: GZip"], "gzip"),
      (["Content-Encoding: gzip, br"], "gzip,br"), (["Content-Encoding: gzip", "Content-Encoding: br"], "gzip,br"),
      (["Content-Encoding: identity, gzip"], "gzip"),
    ] as [([String], String?)])
  func codings(_ lines: [String], _ expected: String?) {
    #expect(Self.identity(lines).contentEncoding == expected.map { Array($0.utf8) })
  }

  @Test("of stored bytes is that of the answer that brought them, whatever a 304 said since")
  func stored() throws {
    for (age, isStrong) in [(59, false), (60, true)] as [(Int64, Bool)] {
      let lines = [
        Messages.dated("Last-Modified", -1000), Messages.dated("Date", age - 1000), "Content-Encoding: GZIP",
        "Content-Type: a/b",
      ]
      let head = Messages.stored(lines, age: 1000 - age)
      let freshened = mergeNotModified(
        head, Messages.response([Messages.dated("Date")], status: 304), requestTime: Messages.now,
        responseTime: Messages.now)
      let restarted = try #require(StoredHead(serialized: freshened.serialize()))
      for stored in [head, freshened, restarted] {
        let identity = RepresentationIdentity(stored: stored, total: 1000)
        #expect(identity == Self.identity(lines))
        #expect((identity.strongValidator != nil) == isStrong)
        #expect(stored.validators.lastModifiedIsStrong(margin: 60) == isStrong)
      }
      #expect(RepresentationIdentity(stored: head, total: nil).total == nil)
    }
  }
}
