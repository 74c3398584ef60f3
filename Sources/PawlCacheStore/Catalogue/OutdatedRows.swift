import PawlCache
import PawlDisk

/// Reads and writes the out-of-date paths (``OutdatedTrees``) in the catalogue.
///
/// Each path is a row of `meta` whose name is a blob; the names of other rows are texts. So no further table was necessary, and
/// older catalogues stay valid.
enum OutdatedRows {
  /// Returns the key with the normalised spelling of its path and query; the authority is not changed.
  static func normalised(_ key: [UInt8]) -> [UInt8] {
    guard let start = key.firstIndex(of: 0), key[start...].contains(0x25) else { return key }
    return Array(key[...start] + PercentSpelling.normalised(key[(start + 1)...]))
  }

  static func record(_ tree: [UInt8], _ number: Int64, in database: Database) throws(StoreError) {
    try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES(?1, ?2)", .blob(tree), .integer(number))
  }

  static func remove(_ tree: [UInt8], from database: Database) throws(StoreError) {
    try database.run("DELETE FROM meta WHERE name = ?1", .blob(tree))
  }

  /// Reads all recorded paths. Removes the paths below which no older object is left, if all objects are in the catalogue
  /// (`isAll`).
  static func read(_ database: Database, isAll: Bool) throws(StoreError) -> [[UInt8]: Int64] {
    if isAll {
      let oldest = try database.integer("SELECT min(number) FROM objects") ?? .max
      try database.run("DELETE FROM meta WHERE typeof(name) = 'blob' AND value <= ?1", .integer(oldest))
    }
    let statement = try database.statement("SELECT name, value FROM meta WHERE typeof(name) = 'blob'")
    defer { statement.reset() }
    var found: [[UInt8]: Int64] = [:]
    while try statement.step() {
      // Some paths were recorded without being normalised.
      let (tree, number) = (normalised(statement.blob(0)), statement.integer(1))
      found[tree] = max(number, found[tree] ?? number)
    }
    return found
  }
}
