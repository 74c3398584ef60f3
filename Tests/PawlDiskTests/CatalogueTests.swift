import PawlBase
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlDisk

/// Numbers under names, of which only the last under a name matters.
struct TestChanges: RowChanges {
  var list: [(name: String, value: Int64)]
  var count: Int { list.count }

  static let tables = "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"

  init(_ name: String, _ value: Int64) { list = [(name, value)] }

  func apply(to database: Database) throws(StoreError) {
    for (name, value) in list { try CatalogueSchema.setMeta(database, name, value) }
  }

  func compacted(before later: inout Set<RowSubject>) -> TestChanges {
    var copy = self
    copy.list = list.filter {
      later.insert(RowSubject(kind: $0.name.utf8.count, id: ObjectID(high: 0, low: 0))).inserted
    }
    return copy
  }
}

@Suite("Catalogue") struct CatalogueTests {
  /// A catalogue that runs, with what it logs.
  private final class Fixture {
    let directory = TestDirectory()
    let catalogue: Catalogue
    private let log = Locked([String]())
    private let events: EventLog
    var path: String { directory.path + "/catalogue.sqlite" }

    init() throws {
      let log = log
      events = EventLog { line in log.withLock { $0.append(line) } }
      let database = try Database(path: directory.path + "/catalogue.sqlite", isReader: false)
      #expect(try CatalogueSchema.prepare(database, tables: TestChanges.tables, version: 1))
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
    fixture.catalogue.submit(TestChanges("probe", 5))
    fixture.catalogue.barrier()
    #expect(fixture.logged("catalogue-failed").count == 1)
    fixture.catalogue.barrier()
    #expect(fixture.logged("catalogue-failed").count == 1, "once a minute")
    try other.execute("COMMIT")
    fixture.catalogue.barrier()
    #expect(try CatalogueSchema.meta(other, "probe") == 5)
    #expect(fixture.logged("catalogue-recovered").count == 1)
  }

  @Test("everyone of a crowd is told, and who comes when it has gone")
  func crowds() throws {
    let fixture = try Fixture()
    let told = Locked(0)
    for number in 1...40 {
      fixture.catalogue.submit(TestChanges("probe\(number)", 1), isUrgent: true) { isRecorded in
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
