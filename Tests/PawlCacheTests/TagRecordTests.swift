import PawlCache
import Testing

@Suite("Tag record") struct TagRecordTests {
  @Test("covers ranges that start at or below its limit")
  func limits() {
    let record = TagRecord(tag: Array("abc".utf8), limit: 1000)
    #expect(record.covers(Array("abc".utf8), from: 0))
    #expect(record.covers(Array("abc".utf8), from: 1000))
    #expect(!record.covers(Array("abc".utf8), from: 1001))
    #expect(!record.covers(Array("abd".utf8), from: 0))
    #expect(TagRecord(tag: []).covers([], from: .max))
  }
}
