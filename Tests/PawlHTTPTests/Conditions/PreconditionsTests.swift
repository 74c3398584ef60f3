import PawlHTTP
import Testing

@Suite("Preconditions in their order (RFC 9110 §13.2.2)") struct PreconditionsTests {
  private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
  private static let same = "Sun, 06 Nov 1994 08:49:37 GMT"  // 784111777
  private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
  private static let tagged = Validators(
    tag: EntityTag(Bytes("\"a\"")), lastModified: 784_111_777, date: 784_200_000, receivedAt: 784_200_001)
  private static let weak = Validators(tag: EntityTag(Bytes("W/\"a\"")), receivedAt: 784_111_777)

  private func evaluate(_ method: Method, _ fields: Fields, _ validators: Validators) -> Precondition {
    evaluatePreconditions(RequestHead(method: method, target: Bytes("/"), fields: fields), validators: validators) {
      tag, strongly in
      guard let own = validators.tag else { return false }
      return strongly ? own.matchesStrongly(tag) : own.matchesWeakly(tag)
    }
  }

  @Test(
    "decides for GET and HEAD",
    arguments: [
      (fields(), .proceed),
      (fields(("Range", "bytes=0-1"), ("If-Range", "\"a\"")), .proceed),
      // If-None-Match: weak comparison, lists, star
      (fields(("If-None-Match", "\"a\"")), .notModified),
      (fields(("If-None-Match", "W/\"a\"")), .notModified),
      (fields(("If-None-Match", "\"x\", \"a\"")), .notModified),
      (fields(("If-None-Match", "\"x\""), ("If-None-Match", "\"a\"")), .notModified),
      (fields(("If-None-Match", "*")), .notModified),
      (fields(("If-None-Match", "\"b\"")), .proceed),
      (fields(("If-None-Match", "a")), .proceed),
      (fields(("If-None-Match", "")), .proceed),
      // If-None-Match makes If-Modified-Since irrelevant, even when unreadable
      (fields(("If-None-Match", "\"b\""), ("If-Modified-Since", after)), .proceed),
      (fields(("If-None-Match", "a"), ("If-Modified-Since", after)), .proceed),
      (fields(("If-None-Match", "\"a\""), ("If-Modified-Since", before)), .notModified),
      // If-Modified-Since
      (fields(("If-Modified-Since", same)), .notModified),
      (fields(("If-Modified-Since", after)), .notModified),
      (fields(("If-Modified-Since", before)), .proceed),
      (fields(("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT")), .notModified),
      (fields(("If-Modified-Since", "yesterday")), .proceed),
      (fields(("If-Modified-Since", same), ("If-Modified-Since", same)), .proceed),
      // If-Match and If-Unmodified-Since come first
      (fields(("If-Match", "\"a\"")), .proceed),
      (fields(("If-Match", "*")), .proceed),
      (fields(("If-Match", "\"x\",\"a\"")), .proceed),
      (fields(("If-Match", "W/\"a\"")), .failed),
      (fields(("If-Match", "\"b\"")), .failed),
      (fields(("If-Match", "a")), .failed),
      (fields(("If-Match", "\"b\""), ("If-None-Match", "\"a\"")), .failed),
      (fields(("If-Match", "\"a\""), ("If-None-Match", "\"a\"")), .notModified),
      (fields(("If-Match", "\"a\""), ("If-Unmodified-Since", before)), .proceed),
      (fields(("If-Unmodified-Since", before)), .failed),
      (fields(("If-Unmodified-Since", same)), .proceed),
      (fields(("If-Unmodified-Since", "x")), .proceed),
      (fields(("If-Unmodified-Since", same), ("If-Modified-Since", same)), .notModified),
      // 304 wins over 206
      (fields(("If-None-Match", "\"a\""), ("Range", "bytes=0-1")), .notModified),
    ] as [(Fields, Precondition)])
  func retrieval(_ fields: Fields, _ expected: Precondition) {
    #expect(evaluate(.get, fields, Self.tagged) == expected)
    #expect(evaluate(.head, fields, Self.tagged) == expected)
  }

  @Test(
    "decides for other methods",
    arguments: [
      (fields(("If-None-Match", "\"a\"")), .failed), (fields(("If-None-Match", "*")), .failed),
      (fields(("If-None-Match", "\"b\"")), .proceed), (fields(("If-Modified-Since", after)), .proceed),
      (fields(("If-Match", "\"b\"")), .failed),
    ] as [(Fields, Precondition)])
  func others(_ fields: Fields, _ expected: Precondition) {
    #expect(evaluate(.put, fields, Self.tagged) == expected)
    #expect(evaluate(.post, fields, Self.tagged) == expected)
  }

  @Test("a weak tag never satisfies If-Match") func weakTag() {
    #expect(evaluate(.get, fields(("If-Match", "\"a\"")), Self.weak) == .failed)
    #expect(evaluate(.get, fields(("If-None-Match", "\"a\"")), Self.weak) == .notModified)
  }

  @Test("without Last-Modified, Date and then the time of receipt stand in (RFC 9111 §4.3.2)") func standIns() {
    let dated = Validators(date: 784_111_777, receivedAt: 790_000_000)
    #expect(evaluate(.get, fields(("If-Modified-Since", Self.same)), dated) == .notModified)
    #expect(evaluate(.get, fields(("If-Modified-Since", Self.before)), dated) == .proceed)
    #expect(evaluate(.get, fields(("If-Modified-Since", Self.same)), Self.weak) == .notModified)
    #expect(evaluate(.get, fields(("If-Modified-Since", Self.before)), Self.weak) == .proceed)
    #expect(evaluate(.get, fields(("If-Unmodified-Since", Self.before)), dated) == .proceed)
  }
}
