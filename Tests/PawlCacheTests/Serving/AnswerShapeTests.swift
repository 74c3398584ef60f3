import PawlCache
import PawlHTTP
import Testing

@Suite("What of a stored response answers") struct AnswerShapeTests {
  private static let date = Messages.dated("Last-Modified", -100_000)

  /// Of ten bytes, which `"a"` names whole, and `"b"` up to the fifth.
  private func decide(
    _ lines: [String], _ stored: [String] = [], total: UInt64? = 10, status: Int = 200,
    method: PawlHTTP.Method = .get, mayGivePart: Bool = true, maxRanges: Int = 16
  ) -> (shape: AnswerShape, shown: EntityTag?) {
    let limits: [[UInt8]: UInt64] = [Array("a".utf8): .max, Array("b".utf8): 5]
    return AnswerShape.decide(
      Messages.request(lines, method: method), of: Messages.stored(stored, status: status),
      AnswerShape.Body(total: total) { limits[$0] }, mayGivePart: mayGivePart, maxRanges: maxRanges)
  }

  private func part(_ first: UInt64, _ last: UInt64) throws -> AnswerShape {
    .part(try #require(ByteRange(first: first, last: last)))
  }

  @Test("conditions first, then If-Range, then the range (RFC 9110 §13.2.2)")
  func order() throws {
    #expect(decide([]).shape == .whole)
    #expect(decide(["If-None-Match: \"a\"", "Range: bytes=0-0"]).shape == .notModified)
    #expect(decide(["If-None-Match: *"]).shape == .notModified)
    #expect(decide(["If-None-Match: \"x\"", "Range: bytes=0-0"]).shape == (try part(0, 0)))
    #expect(decide(["Range: bytes=2-4", "If-Range: \"a\""]).shape == (try part(2, 4)))
    #expect(decide(["Range: bytes=2-4", "If-Range: \"x\""]).shape == .whole)
    #expect(decide(["Range: bytes=2-4", "If-Range: W/\"a\""]).shape == .whole)
    #expect(decide(["Range: bytes=2-4", "If-Range: nonsense"]).shape == .whole)
    let named = "If-Range:" + Self.date.drop { $0 != ":" }.dropFirst()
    #expect(decide(["Range: bytes=2-4", named], [Self.date]).shape == (try part(2, 4)))
    #expect(decide(["Range: bytes=2-4", named]).shape == .whole)
    #expect(decide(["If-None-Match: W/\"o\""], ["ETag: W/\"o\""]).shape == .notModified)
    #expect(decide(["Range: bytes=10-"]).shape == .unsatisfiable)
    #expect(decide(["Range: bytes=0-0"], total: nil).shape == .needsTotal)
  }

  @Test("a tag names no more than what is proven of it")
  func limits() throws {
    #expect(decide(["Range: bytes=5-", "If-Range: \"b\""]).shape == (try part(5, 9)))
    #expect(decide(["Range: bytes=6-", "If-Range: \"b\""]).shape == .whole)
    #expect(decide(["Range: bytes=2-5", "If-Range: \"b\""]).shape == .whole)
    #expect(decide(["Range: bytes=10-", "If-Range: \"b\""]).shape == .whole)
    #expect(decide(["If-None-Match: \"b\""]).shape == .whole)
  }

  @Test("the client is shown the tag that it named")
  func shown() {
    #expect(decide(["Range: bytes=2-4", "If-Range: \"a\""]).shown == EntityTag(strong: Array("a".utf8)))
    #expect(decide(["If-None-Match: \"x\", \"a\""]).shown == EntityTag(strong: Array("a".utf8)))
    #expect(decide(["Range: bytes=2-4", "If-Range: \"x\""]).shown == nil && decide([]).shown == nil)
    #expect(decide(["If-None-Match: *"]).shown == nil)
  }

  @Test("a strong tag that others have weakened names it weakly: for 304, and for nothing that asks for its bytes")
  func weakened() {
    let weak = EntityTag(weak: Array("a".utf8))
    #expect(decide(["If-None-Match: W/\"a\""]) == (.notModified, weak))
    #expect(decide(["If-None-Match: W/\"a\", \"a\""]) == (.notModified, EntityTag(strong: Array("a".utf8))))
    #expect(decide(["If-None-Match: W/\"b\""]).shape == .whole && decide(["If-None-Match: W/\"x\""]).shape == .whole)
    #expect(decide(["Range: bytes=2-4", "If-Range: W/\"a\""]).shape == .whole)
    // The origin's own weak tag may be that of any form: it is shown as it was named.
    let own = decide(["If-None-Match: W/\"o\""], ["ETag: W/\"o\""])
    #expect(own == (.notModified, EntityTag(weak: Array("o".utf8))))
  }

  @Test("the whole is given where no part may be, whatever is asked")
  func wholes() {
    let range = ["Range: bytes=2-4"]
    #expect(decide(range, method: .head).shape == .whole && decide(range, mayGivePart: false).shape == .whole)
    #expect(decide(range, status: 404).shape == .whole)
    #expect(decide(range, ["Content-Type: multipart/byteranges; boundary=b"]).shape == .whole)
    #expect(decide(["Range: bytes=0-0,4-4,8-8"], maxRanges: 1).shape == .whole)
    #expect(decide(["If-None-Match: \"a\""], status: 404).shape == .whole)
  }
}
