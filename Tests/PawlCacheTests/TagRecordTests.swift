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

  @Test("mints 128 bits in hexadecimal, and knows such a tag again")
  func minted() {
    let tag = TagRecord(mintedFrom: (0..<16).map { $0 * 17 }).tag
    #expect(String(decoding: tag, as: UTF8.self) == "p-00112233445566778899aabbccddeeff")
    #expect(TagRecord.isMinted(tag))
  }

  @Test(
    "does not take other tags for its own",
    arguments: [
      "", "p-", "00112233445566778899aabbccddeeff", "p-00112233445566778899AABBCCDDEEFF",
      "p-00112233445566778899aabbccddeeff0", "q-00112233445566778899aabbccddeeff",
    ])
  func foreign(_ tag: String) { #expect(!TagRecord.isMinted(Array(tag.utf8))) }
}
