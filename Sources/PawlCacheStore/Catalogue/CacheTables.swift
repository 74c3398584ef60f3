import PawlDisk

/// The tables of a cache.
extension CatalogueSchema {
  /// The version of the tables; a file with another version is moved aside.
  static let version: Int64 = 1
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
}
