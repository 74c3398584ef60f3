import PawlCache
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What is written down before readers see it") struct StoredBodyLedgerTests {
  /// A body of which a part was gathered, and has a file now.
  private func settled(_ fields: [(FieldName, String)], total: UInt64?) throws -> (StoreFixture, StoredBody) {
    let fixture = try StoreFixture(packingIn: TestDirectory())
    let body = try fixture.body(total: total)
    body.addTag(TagRecord(tag: Array("t".utf8)))
    let response = StoredResponse(head: fixture.head(fields), body: body, storedAt: fixture.clock.wallSeconds())
    fixture.store.publish(response, in: try fixture.resource("/a"))
    try body.write(pattern(5000))
    body.moveToFile()
    return (fixture, body)
  }

  private func records(_ fixture: StoreFixture) throws -> [LedgerRecord] {
    LedgerRecord.all(in: try TestDirectory.contents(fixture.directory.path + "/cache/ledger"))
  }

  @Test(
    "a part that gets a file is in the ledger with its row before anybody sees it", arguments: [nil, 9000] as [UInt64?])
  func part(total: UInt64?) throws {
    let (fixture, body) = try settled([], total: total)
    var (hasBirth, extent): (Bool, UInt64) = (false, 0)
    for record in try records(fixture) where record.number == body.number {
      switch record.content {
      case .birth(let row, _): hasBirth = row.id == body.id
      case .extent(let segment): extent = max(extent, segment.end)
      case .tags: break
      }
    }
    #expect(hasBirth && extent == 5000)
  }

  @Test("what came whole, or can be had again by the origin's validator, is not")
  func needless() throws {
    for (fields, total) in [([], 5000), ([(FieldName.etag, "\"s\"")], 9000)] as [([(FieldName, String)], UInt64)] {
      let (fixture, body) = try settled(fields, total: total)
      #expect(try records(fixture).allSatisfy { $0.number != body.number })
    }
  }
}
