/// The common parts of all catalogue files, and the check that a file is of this version.
package enum CatalogueSchema {
  /// `PRAGMA application_id`: "pawl".
  static let applicationID: Int64 = 0x7061_776c

  /// Creates `tables` in a new file. Returns whether the file was new.
  /// - Throws: ``StoreError/foreignSchema`` for a file of another version or program.
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

  /// Returns a number from the table `meta`; `nil`: there is no number with this name.
  package static func meta(_ database: Database, _ name: String) throws(StoreError) -> Int64? {
    try database.integer("SELECT value FROM meta WHERE name = '\(name)'")
  }

  /// Stores a number in the table `meta`.
  package static func setMeta(_ database: Database, _ name: String, _ value: Int64) throws(StoreError) {
    try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES('\(name)', ?1)", .integer(value))
  }
}
