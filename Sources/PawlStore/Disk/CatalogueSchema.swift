/// What the catalogue file looks like, and how a file of another making is told.
enum CatalogueSchema {
  /// Changes with the tables: a file of another version is moved aside.
  static let version: Int64 = 1
  /// `PRAGMA application_id`: "pawl".
  static let applicationID: Int64 = 0x7061_776c

  static let tables = """
    CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE objects(
      number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, key_hash INTEGER NOT NULL, key BLOB NOT NULL,
      kind INTEGER NOT NULL, owner BLOB, head BLOB NOT NULL, total INTEGER, complete INTEGER NOT NULL,
      held INTEGER NOT NULL, synced INTEGER NOT NULL, suspect INTEGER NOT NULL, stored_at INTEGER NOT NULL,
      superseded_at INTEGER, last_used INTEGER NOT NULL, uses INTEGER NOT NULL, expires INTEGER);
    CREATE TABLE segments(
      object INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, xxh3 INTEGER NOT NULL,
      sequence INTEGER NOT NULL, PRIMARY KEY(object, offset)) WITHOUT ROWID;
    CREATE TABLE tags(
      object INTEGER NOT NULL, opaque BLOB NOT NULL, position INTEGER NOT NULL, "limit" INTEGER NOT NULL,
      PRIMARY KEY(object, opaque)) WITHOUT ROWID;
    CREATE INDEX objects_by_hash ON objects(key_hash, held);
    CREATE INDEX objects_superseded ON objects(superseded_at) WHERE superseded_at IS NOT NULL;
    CREATE INDEX objects_expiring ON objects(expires) WHERE expires IS NOT NULL;
    CREATE INDEX objects_by_use ON objects(complete, last_used);
    """

  /// Makes the cache's tables in a new file.
  static func prepare(_ database: Database, seed: UInt64) throws(StoreError) {
    guard try prepare(database, tables: tables, version: version) else { return }
    try setMeta(database, "seed", Int64(bitPattern: seed))
    try setMeta(database, "clean", 1)
  }

  /// Makes these tables in a new file, and says whether it was one.
  /// - Throws: ``StoreError/foreignSchema`` for a file that is not this version's.
  static func prepare(_ database: Database, tables: String, version: Int64) throws(StoreError) -> Bool {
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

  static func meta(_ database: Database, _ name: String) throws(StoreError) -> Int64? {
    try database.integer("SELECT value FROM meta WHERE name = '\(name)'")
  }

  static func setMeta(_ database: Database, _ name: String, _ value: Int64) throws(StoreError) {
    try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES('\(name)', ?1)", .integer(value))
  }
}
