import CLinux
import PawlBase
import PawlCache
import PawlHTTP
import PawlLoop
import PawlObserve
import Testing

@testable import PawlStore

@Suite("Catalogue") struct CatalogueTests {
  @Test("changes that could not be recorded are kept and recorded later")
  func retries() throws {
    let fixture = try StoreFixture()
    let path = fixture.directory.path + "/cache/catalogue.sqlite"
    let other = try Database(path: path, isReader: false)
    // Another writer holds the file for longer than SQLite waits: as a full disk, an error that passes.
    try other.execute("BEGIN IMMEDIATE")
    fixture.store.core.submit([.meta("probe", 5)])
    fixture.store.flush()
    #expect(fixture.logged("catalogue-failed").count == 1)
    try other.execute("COMMIT")
    fixture.store.flush()
    #expect(try CatalogueSchema.meta(other, "probe") == 5)
  }

  @Test("everyone of a crowd is told, and who comes when it has gone")
  func crowds() throws {
    let fixture = try StoreFixture()
    let told = Locked(0)
    for number in 1...40 {
      fixture.store.core.catalogue?.submit([.meta("probe\(number)", 1)], isUrgent: true) { isRecorded in
        told.withLock { $0 += isRecorded ? 1 : 0 }
      }
      if number % 8 == 0 { fixture.store.flush() }
    }
    #expect(told.withLock { $0 } == 40)
    let reader = try Database(path: fixture.directory.path + "/cache/catalogue.sqlite", isReader: true)
    #expect(try reader.integer("SELECT count(*) FROM meta WHERE name LIKE 'probe%'") == 40)
  }

  @Test("a closed catalogue takes nothing and keeps nobody waiting")
  func closed() throws {
    let fixture = try StoreFixture()
    let catalogue = try #require(fixture.store.core.catalogue)
    fixture.store.close()
    #expect(!catalogue.barrier())
  }

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
