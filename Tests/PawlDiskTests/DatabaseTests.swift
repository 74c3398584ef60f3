import PawlStoreTestKit
import Testing

@testable import PawlDisk

@Suite("One SQLite connection") struct DatabaseTests {
  private func opened(_ folder: TestDirectory) throws -> Database {
    let database = try Database(path: folder.path + "/d", isReader: false)
    try database.execute("CREATE TABLE IF NOT EXISTS t(a, b)")
    return database
  }

  @Test("gives back what was put in, each kind of value")
  func values() throws {
    let folder = TestDirectory()
    let database = try opened(folder)
    try database.run("INSERT INTO t VALUES(?1, ?2)", .integer(-5), .blob([0, 255]))
    try database.run("INSERT INTO t VALUES(?1, ?2)", .bits(.max), .null)
    try database.run("INSERT INTO t VALUES(?1, ?2)", .number(.max), .optional(nil as Int64?))
    let statement = try database.statement("SELECT a, b FROM t ORDER BY rowid")
    #expect(try statement.step())
    #expect(statement.integer(0) == -5 && statement.blob(1) == [0, 255])
    #expect(try statement.step())
    #expect(statement.integer(0) == -1 && statement.optionalInteger(1) == nil && statement.blob(1).isEmpty)
    #expect(try statement.step())
    #expect(statement.integer(0) == .max)
    #expect(try !statement.step())
    statement.reset()
    #expect(try database.integer("SELECT count(*) FROM t") == 3)
    #expect(try database.integer("SELECT a FROM t WHERE a = ?1", .integer(9)) == nil)
  }

  @Test("a statement is prepared once and can be used again after an error")
  func statements() throws {
    let folder = TestDirectory()
    let database = try opened(folder)
    #expect(try database.statement("SELECT 1") === database.statement("SELECT 1"))
    #expect(throws: StoreError.self) { try database.execute("nonsense") }
    #expect(throws: StoreError.self) { _ = try database.statement("SELECT x FROM nowhere") }
    #expect(try database.integer("SELECT 1") == 1)
  }

  @Test("a reader cannot write, and a reader of nothing cannot be")
  func readers() throws {
    let folder = TestDirectory()
    _ = try opened(folder)
    let reader = try Database(path: folder.path + "/d", isReader: true)
    #expect(throws: StoreError.self) { try reader.run("INSERT INTO t VALUES(1, 2)") }
    #expect(throws: StoreError.self) { _ = try Database(path: folder.path + "/none", isReader: true) }
  }
}
