import PawlCache
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Changes of a catalogue") struct CatalogueChangeTests {
  @Test("tags are recorded in their order with their limits")
  func tags() throws {
    let directory = TestDirectory()
    do {
      let fixture = try StoreFixture(in: directory)
      let body = try fixture.store("/a", pattern(10), tag: "first").body
      body.addTag(TagRecord(tag: [0xff, 0x00], limit: 7))
      body.addTag(TagRecord(tag: Array("third".utf8), limit: 0))
    }
    let fixture = try StoreFixture(in: directory)
    let body = try #require(try fixture.first("/a")).body
    #expect(
      body.tags == [
        TagRecord(tag: Array("first".utf8)), TagRecord(tag: Array("third".utf8), limit: 0),
        TagRecord(tag: [0xff, 0x00], limit: 7),
      ])
    #expect(body.tagLimit([0xff, 0x00]) == 7)
    #expect(body.tagLimit([0xff]) == nil)
  }
}
