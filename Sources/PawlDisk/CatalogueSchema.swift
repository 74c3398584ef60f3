/// What every catalogue file has, and how a file of another making is told.
package enum CatalogueSchema {
  /// `PRAGMA application_id`: "pawl".
  static let applicationID: Int64 = 0x7061_776c

  /// Makes these tables in a new file, and says whether it was one.
  /// - Throws: ``StoreError/foreignSchema`` for a file that is not this version's.
  package static func prepare(_ database: Database, tables: String, version: Int64) throws(StoreError) -> Bool {
    try database.execute("PRAGMA journal_mode = WAL")
    try database.execute("PRAGMA wal_autocheckpoint = 4000")
    try database.execute("PRAGMA temp_store = MEMORY")
    let application = try database.integer("PRAGMA application_id") ?? 0
    let found = try database.integer("PRAGMA user_version") ?? 0
    let count = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
    if application == 0 && found == 0 && count == 0 {
      try database.execute("PRAGMA synchronous = FULL")
      try database.execute(
        "BEGIN; \(tables) PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version); COMMIT")
      return true
    }
    guard application == applicationID, found == version else {
      throw .catalogue(code: StoreError.foreignSchema, message: "version \(found) of application \(application)")
    }
    return false
  }

  /// A number that the catalogue keeps about itself; `nil` where there is none of this name.
  package static func meta(_ database: Database, _ name: String) throws(StoreError) -> Int64? {
    try database.integer("SELECT value FROM meta WHERE name = '\(name)'")
  }

  /// Keeps a number under this name.
  package static func setMeta(_ database: Database, _ name: String, _ value: Int64) throws(StoreError) {
    try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES('\(name)', ?1)", .integer(value))
  }
}
