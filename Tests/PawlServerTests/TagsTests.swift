import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Tags that pawl gives") struct TagsTests {
  @Test("are random, marked as its own, and usable as they are")
  func minted() {
    let tags = Set((0..<100).map { _ in Tags.mint() })
    #expect(tags.count == 100)
    for tag in tags {
      #expect(tag.count == 37)
      #expect(Tags.isMinted(EntityTag(strong: tag)))
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
    let stored = try ServerBench().stored()
    let head = ResponseHead(status: 200, fields: Fields([(.etag, field)]))
    let name = Tags.name(for: head, mode: .auto, body: stored.body)
    if let expected { #expect(name == Array(expected.utf8)) } else { #expect(Tags.isMinted(EntityTag(strong: name))) }
  }

  @Test("a boundary is 32 digits, never the same twice")
  func boundary() {
    #expect(Tags.boundary().count == 32)
    #expect(Tags.boundary() != Tags.boundary())
  }
}
