import PawlCache
import PawlCacheStore
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Tags that pawl gives") struct AnswerTagsTests {
  @Test("are random, marked as its own, and usable as they are")
  func minted() {
    let tags = Set((0..<100).map { _ in AnswerTags.mint() })
    #expect(tags.count == 100)
    for tag in tags {
      #expect(tag.count == 37)
      #expect(AnswerTags.isMinted(EntityTag(strong: tag)))
      #expect(
        tag.dropFirst(5).allSatisfy {
          UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        })
    }
  }

  @Test(
    "name the origin's strong tag where there is one",
    arguments: [
      ("\"v1\"", "v1"), ("W/\"v1\"", nil), ("v1", nil), ("\"\"", ""), ("\"a\", \"b\"", nil),
    ] as [(String, String?)])
  func named(_ field: String, _ expected: String?) throws {
    let head = ResponseHead(status: 200, fields: Fields([(.etag, field)]))
    let name = AnswerTags.name(for: head, beside: [])
    if let expected {
      #expect(name == Array(expected.utf8))
    } else {
      #expect(AnswerTags.isMinted(EntityTag(strong: name)))
    }
  }

  @Test("no tag of the origin's names two codings, nor comes back when it was found to")
  func twoCodings() throws {
    func stored(_ tag: String, _ coding: String?, _ fields: [(FieldName, String)] = [(.etag, "\"t\"")]) throws
      -> StoredResponse
    {
      let more: [(FieldName, String)] = coding.map { [(.contentEncoding, $0)] } ?? []
      return try ServerBench().stored(tags: [TagRecord(tag: Array(tag.utf8))], fields + more)
    }
    let (plain, coded) = ([(FieldName.etag, "\"t\"")], [(FieldName.etag, "\"t\""), (.contentEncoding, "gzip")])
    func keeps(_ fields: [(FieldName, String)], beside other: StoredResponse) -> Bool {
      AnswerTags.name(for: ResponseHead(status: 200, fields: Fields(fields)), beside: [other]) == Array("t".utf8)
    }
    #expect(try keeps(plain, beside: stored("t", nil)) && keeps(coded, beside: stored("t", "GZIP")))
    #expect(try !keeps(plain, beside: stored("t", "gzip")) && !keeps(coded, beside: stored("t", nil)))
    #expect(try keeps(plain, beside: stored("u", "gzip", [(.etag, "\"u\"")])))
    // The origin said `t`, and is not given it.
    #expect(try !keeps(plain, beside: stored("pawl-1", nil)))
  }

  @Test("a boundary is 32 digits, never the same twice")
  func boundary() {
    #expect(AnswerTags.boundary().count == 32)
    #expect(AnswerTags.boundary() != AnswerTags.boundary())
  }
}
