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

  private func tag(_ number: Int, limit: UInt64 = .max) -> TagRecord {
    TagRecord(tag: Array("\(number)".utf8), limit: limit)
  }

  @Test("a body has its first tag and 64 aliases, the latest first; of more the longest unused goes")
  func aliasLimit() {
    var tags: [TagRecord] = []
    for number in 0...TagRecord.aliasLimit { _ = tags.note(tag(number)) }
    #expect(tags.count == 65 && tags[0] == tag(0) && tags[1] == tag(64) && tags[64] == tag(1))
    var limit = tags.use(tag(1).tag)
    #expect(limit == .max && tags[1] == tag(1))
    let isNew = tags.note(tag(65))
    #expect(isNew)
    #expect(tags.count == 65 && tags.map(\.tag).contains(tag(1).tag) && !tags.map(\.tag).contains(tag(2).tag))
    limit = tags.use(tag(2).tag)
    #expect(limit == nil)
    limit = tags.use(tag(0).tag)
    #expect(limit == .max && tags[0] == tag(0))
  }

  @Test("a tag that is there is widened or narrowed where it stands")
  func noted() {
    var tags = [tag(1), tag(2), tag(3)]
    let isSame = !tags.note(tag(2))
    let isOther = tags.note(tag(3, limit: 5))
    #expect(isSame && isOther && tags == [tag(1), tag(2), tag(3, limit: 5)])
    let limit = tags.use(tag(3).tag)
    #expect(limit == 5 && tags[1] == tag(3, limit: 5))
  }

  @Test(
    "an equal body's tags: its first becomes that of both where it covers all; a tag that nobody was told is forgotten",
    arguments: [
      ([7], true, false, [1, 2]), ([7], true, true, [1, 7, 2]), ([7], false, true, [7, 1, 2]),
      ([7, 2], true, true, [1, 7, 2]),
      ([1], false, true, [1, 2]), ([], true, false, [1, 2]),
    ] as [([Int], Bool, Bool, [Int])])
  func inherited(_ own: [Int], _ takesName: Bool, _ isTold: Bool, _ expected: [Int]) {
    var tags = own.map { tag($0) }
    tags.inherit([tag(1), tag(2)], takesName: takesName, isTold: isTold)
    #expect(tags == expected.map { tag($0) })
  }

  @Test("a tag that covers only the beginning names nothing that is announced, and the aliases stay within their limit")
  func inheritedPart() {
    var tags = [tag(7)]
    tags.inherit([tag(1, limit: 9)] + (10..<80).map { tag($0) }, takesName: true, isTold: false)
    #expect(tags.count == 65 && tags[0] == tag(7) && tags[1] == tag(1, limit: 9))
    tags.inherit([], takesName: true, isTold: true)
    #expect(tags[0] == tag(7))
  }
}
