import PawlBase
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlDisk

/// A number under a name.
struct TestChange: RowChange {
  var name: String
  var value: Int64

  static let tables = "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"

  func apply(to database: Database) throws(StoreError) { try CatalogueSchema.setMeta(database, name, value) }
  static func compacted(_ changes: [TestChange]) -> [TestChange] { changes }
  static func synced(at time: Int64) -> TestChange { TestChange(name: "synced", value: time) }
}

@Suite("Catalogue") struct CatalogueTests {
  /// A catalogue that runs, with what it logs.
  private final class Fixture {
    let directory = TestDirectory()
    let catalogue: Catalogue<TestChange>
    private let log = Locked([String]())
    private let events: EventLog
    var path: String { directory.path + "/catalogue.sqlite" }

    init() throws {
      let log = log
      events = EventLog { line in log.withLock { $0.append(line) } }
      let database = try Database(path: directory.path + "/catalogue.sqlite", isReader: false)
      #expect(try CatalogueSchema.prepare(database, tables: TestChange.tables, version: 1))
      catalogue = try Catalogue(database, directory: directory.path, events: events, onTick: {})
      try catalogue.start()
    }

    deinit { catalogue.close() }

    func logged(_ event: String) -> [String] {
      events.flush()
      return log.withLock { $0.filter { $0.contains(" \(event)") } }
    }
  }

  @Test("changes that could not be recorded are kept and recorded later")
  func retries() throws {
    let fixture = try Fixture()
    let other = try Database(path: fixture.path, isReader: false)
    // Another writer holds the file for longer than SQLite waits: as a full disk, an error that passes.
    try other.execute("BEGIN IMMEDIATE")
    fixture.catalogue.submit([TestChange(name: "probe", value: 5)])
    fixture.catalogue.barrier()
    #expect(fixture.logged("catalogue-failed").count == 1)
    try other.execute("COMMIT")
    fixture.catalogue.barrier()
    #expect(try CatalogueSchema.meta(other, "probe") == 5)
  }

  @Test("everyone of a crowd is told, and who comes when it has gone")
  func crowds() throws {
    let fixture = try Fixture()
    let told = Locked(0)
    for number in 1...40 {
      fixture.catalogue.submit([TestChange(name: "probe\(number)", value: 1)], isUrgent: true) { isRecorded in
        told.withLock { $0 += isRecorded ? 1 : 0 }
      }
      if number % 8 == 0 { fixture.catalogue.barrier() }
    }
    #expect(told.withLock { $0 } == 40)
    let reader = try Database(path: fixture.path, isReader: true)
    #expect(try reader.integer("SELECT count(*) FROM meta WHERE name LIKE 'probe%'") == 40)
  }

  @Test("a closed catalogue takes nothing and keeps nobody waiting")
  func closed() throws {
    let fixture = try Fixture()
    fixture.catalogue.close()
    #expect(!fixture.catalogue.barrier())
  }
}
