import PawlHTTP
import Testing

@Suite("If-Range (RFC 9110 §13.1.5)") struct IfRangeTests {
  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"  // 784111777

  @Test("tells tags, dates and nonsense apart") func parses() {
    #expect(IfRange(fields(("Range", "bytes=0-"))) == nil)
    #expect(IfRange(fields(("If-Range", "\"a\""))) == .tag(EntityTag(strong: Array("a".utf8))))
    #expect(IfRange(fields(("If-Range", " \"a\" "))) == .tag(EntityTag(strong: Array("a".utf8))))
    #expect(IfRange(fields(("If-Range", Self.modified))) == .date(784_111_777))
    #expect(IfRange(fields(("If-Range", "Sunday, 06-Nov-94 08:49:37 GMT"))) == .date(784_111_777))
  }

  @Test(
    "is unusable, and so false, when it is anything else",
    arguments: [
      "", "a", "*", "\"a\", \"b\"", "\"a\" \"b\"", "\"a", "w/\"a\"", "W/a", "abc\"d\"", "0", "784111777",
      "Sun, 06 Nov 1994 08:49:37 UTC", "06 Nov 1994",
    ])
  func unusable(_ text: String) throws {
    let condition = try #require(IfRange(fields(("If-Range", text))))
    #expect(condition == .unusable)
    #expect(!condition.holds(for: Validators(tag: EntityTag(Bytes("\"a\"")))) { _ in true })
  }

  @Test("is unusable on several lines, even equal ones") func duplicate() {
    #expect(IfRange(fields(("If-Range", "\"a\""), ("If-Range", "\"a\""))) == .unusable)
  }

  @Test(
    "compares tags strongly",
    arguments: [
      ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", false), ("\"a\"", "W/\"a\"", false),
      ("W/\"a\"", "W/\"a\"", false), ("\"a\"", nil, false), ("\"A\"", "\"a\"", false),
    ] as [(String, String?, Bool)])
  func tags(_ sent: String, _ stored: String?, _ holds: Bool) throws {
    let validators = Validators(tag: stored.flatMap { EntityTag(Bytes($0)) }, lastModified: 5, date: 500)
    #expect(try #require(IfRange(fields(("If-Range", sent)))).holds(for: validators) == holds)
  }

  @Test("asks about aliases, but never about a weak tag") func aliases() throws {
    let alias = EntityTag(strong: Array("alias".utf8))
    #expect(IfRange.tag(alias).holds(for: Validators()) { $0 == alias })
    let weak = try #require(EntityTag(Bytes("W/\"alias\"")))
    #expect(!IfRange.tag(weak).holds(for: Validators()) { _ in true })
  }

  @Test(
    "wants exactly the date, and that date strong",
    arguments: [
      // Last-Modified and Date relative to the date sent
      (0, 1, true), (0, 60, true), (0, 0, false), (0, -1, false), (0, nil, false), (-1, 100, false), (1, 100, false),
      (nil, 100, false),
    ] as [(Int64?, Int64?, Bool)])
  func dates(_ lastModified: Int64?, _ date: Int64?, _ holds: Bool) throws {
    let validators = Validators(
      tag: EntityTag(Bytes("\"a\"")), lastModified: lastModified.map { $0 + 784_111_777 },
      date: date.map { $0 + 784_111_777 }, receivedAt: 900_000_000)
    #expect(try #require(IfRange(fields(("If-Range", Self.modified)))).holds(for: validators) == holds)
  }

  @Test("is false when the representation has no validator") func noValidator() {
    #expect(!IfRange(Bytes("\"a\"")).holds(for: Validators()))
    #expect(!IfRange(Bytes(Self.modified)).holds(for: Validators()))
  }
}
