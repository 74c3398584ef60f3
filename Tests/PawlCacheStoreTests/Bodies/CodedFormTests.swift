import PawlCache
import PawlDisk
import PawlHTTP
import Testing

@testable import PawlCacheStore

@Suite("A coded form of a body") struct CodedFormTests {
  private typealias Origin = CodedForm.Origin

  @Test("its row says of which body it is, in which coding, and how it is made", arguments: ContentCoding.allCases)
  func origin(_ coding: ContentCoding) {
    let base = ObjectID(high: 1, low: 0xff00_0000_0000_0002)
    for isSteady in [true, false] {
      let origin = Origin(base: base, coding: coding, isSteady: isSteady)
      #expect(origin.bytes == base.bytes + [coding.rawValue, isSteady ? 1 : 0])
      #expect(Origin(bytes: origin.bytes) == origin)
    }
  }

  @Test("bytes that no such row has are refused")
  func malformed() {
    let base = ObjectID(high: 1, low: 2).bytes
    let rows: [[UInt8]] = [
      [], [1], base, base + [1], base + [1, 2], base + [0, 0], base + [4, 0], base + [1, 0, 0],
      base.dropLast() + [1, 0],
      [0] + base + [1, 0],
    ]
    for (index, row) in rows.enumerated() { #expect(Origin(bytes: row) == nil, "row \(index)") }
  }

  @Test("a body has one of each coding, and none once it has failed")
  func one() throws {
    let fixture = try StoreFixture()
    let base = try fixture.body()
    func form(_ coding: ContentCoding) throws -> CodedForm { CodedForm(coding: coding, body: try fixture.body()) }
    let first = try form(.gzip)
    #expect(!first.body.isForm && base.addForm(first) && first.body.isForm && !base.isForm)
    let (second, other) = (try form(.gzip), try form(.zstd))
    #expect(!base.addForm(second) && base.addForm(other))
    #expect(base.forms.map(\.coding) == [.gzip, .zstd] && base.form(in: .gzip) === first.body)
    #expect(base.form(in: .brotli) == nil)
    first.body.leaveBase()
    #expect(base.forms.map(\.coding) == [.zstd])
    base.fail(.notKept)
    let late = try form(.brotli)
    #expect(!base.addForm(late))
  }

  @Test("is found by its strong tags, as far as they are proven")
  func named() throws {
    let fixture = try StoreFixture()
    let base = try fixture.body()
    let form = CodedForm(coding: .gzip, body: try fixture.body())
    for (name, limit) in [("a", UInt64.max), ("b", 5)] {
      form.body.addTag(TagRecord(tag: Array(name.utf8), limit: limit))
    }
    #expect(base.addForm(form))
    #expect(base.form(namedBy: Array("a".utf8))?.limit == .max && base.form(namedBy: Array("b".utf8))?.limit == 5)
    #expect(base.form(namedBy: Array("c".utf8)) == nil)
  }

  @Test("flushes are noted up to the limit and not once more; in a steady one never")
  func flushes() throws {
    let fixture = try StoreFixture()
    let body = try fixture.body()
    for place in 1...StoredBody.flushLimit { #expect(body.noteFlush(at: UInt64(place))) }
    #expect(!body.noteFlush(at: 5000) && body.flushes.count == StoredBody.flushLimit)
    let steady = try fixture.body()
    steady.state.withLock { $0.isSteady = true }
    #expect(!steady.noteFlush(at: 1) && steady.flushes == [])
  }
}
