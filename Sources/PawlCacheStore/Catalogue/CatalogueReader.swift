import PawlBase
import PawlCache
import PawlDisk
import PawlLoop

/// An object as it was recorded, with its segments and tags.
struct RecordedObject: Sendable {
  var row: ObjectRow
  var segments: [SegmentRecord]
  var tags: [TagRecord]
}

/// The data that is needed to find an object's file and its place in the index.
struct ObjectIdentity: Sendable {
  let number: Int64
  let id: ObjectID
  let keyHash: UInt64
  let held: UInt64
}

/// The data of an object that the evictor needs.
struct EvictionCandidate: Sendable {
  let number: Int64
  let id: ObjectID
  let keyHash: UInt64
  /// Bytes on disk.
  let held: UInt64
  let score: EvictionScore
  /// The seconds since its last use, and the number of its uses.
  let idle: Int64
  let uses: UInt64
  /// Whether the row says that the object is not complete. The row of a body that has just become complete still says so until
  /// the next sync.
  let isUnfinished: Bool

  init(
    number: Int64, id: ObjectID, keyHash: UInt64, held: UInt64, _ kind: EvictionClass, idle: Int64 = 0,
    uses: UInt64 = 0, isUnfinished: Bool = false
  ) {
    (self.number, self.id, self.keyHash, self.held) = (number, id, keyHash, held)
    (self.idle, self.uses, self.isUnfinished) = (idle, uses, isUnfinished)
    score = EvictionScore(kind, idle: idle, uses: uses, size: held)
  }

  /// Returns the same object as a complete one with `held` bytes.
  func complete(held: UInt64) -> EvictionCandidate {
    EvictionCandidate(number: number, id: id, keyHash: keyHash, held: held, .complete, idle: idle, uses: uses)
  }
}

/// Reads rows over a database connection of its own, not that of the writer. Blocking; used in the pool only.
final class CatalogueReader: Sendable {
  private let database: Locked<Database>

  init(path: String) throws(StoreError) {
    let opened = try Database(path: path, isReader: true)
    database = Locked(opened)
  }

  /// Returns all objects under a hash; the caller compares the keys.
  func objects(keyHash: UInt64) throws(StoreError) -> [RecordedObject] {
    try database.withLock { (database) throws(StoreError) in
      let rows = try Self.rows(database, "key_hash = ?1", .bits(keyHash))
      var objects: [RecordedObject] = []
      for row in rows {
        objects.append(
          RecordedObject(
            row: row, segments: try Self.segments(database, row.number), tags: try Self.tags(database, row.number)))
      }
      return objects
    }
  }

  /// Whether an object with this id is recorded.
  func contains(_ id: ObjectID) throws(StoreError) -> Bool {
    try database.withLock { (database) throws(StoreError) in
      try database.integer("SELECT 1 FROM objects WHERE id = ?1", .blob(id.bytes)) != nil
    }
  }

  /// Returns the objects whose ids begin with this byte, whose files are in one directory.
  func identities(firstByte: UInt8) throws(StoreError) -> [ObjectIdentity] {
    try database.withLock { (database) throws(StoreError) in
      let statement = try database.statement(
        "SELECT number, id, key_hash, held FROM objects WHERE id >= ?1 AND id < ?2 ORDER BY id")
      defer { statement.reset() }
      let end = firstByte == 255 ? [UInt8](repeating: 255, count: 17) : [firstByte + 1]
      try statement.bind([.blob([firstByte]), .blob(end)])
      var found: [ObjectIdentity] = []
      while try statement.step() {
        guard let id = ObjectID(bytes: statement.blob(1)) else { continue }
        found.append(
          ObjectIdentity(
            number: statement.integer(0), id: id, keyHash: UInt64(bitPattern: statement.integer(2)),
            held: UInt64(clamping: statement.integer(3))))
      }
      return found
    }
  }

  /// Returns the objects that are evicted first, at most `limit` of each kind, ordered by their score at `now` (wall clock,
  /// seconds).
  func candidates(now: Int64, limit: Int64) throws(StoreError) -> [EvictionCandidate] {
    try database.withLock { (database) throws(StoreError) in
      var found: [Int64: EvictionCandidate] = [:]
      let kinds: [(String, EvictionClass, isUnfinished: Bool)] = [
        ("superseded_at IS NOT NULL ORDER BY superseded_at", .superseded, false),
        ("expires IS NOT NULL AND expires <= ?1 ORDER BY expires", .partial, false),
        ("complete = 0 AND ?1 = ?1 ORDER BY last_used", .partial, true),
        ("complete = 1 AND ?1 = ?1 ORDER BY last_used", .complete, false),
      ]
      for (condition, kind, isUnfinished) in kinds {
        let statement = try database.statement(
          "SELECT number, id, key_hash, held, last_used, uses FROM objects WHERE \(condition) LIMIT ?2")
        defer { statement.reset() }
        try statement.bind([.integer(now), .integer(limit)])
        while try statement.step() {
          guard found[statement.integer(0)] == nil else { continue }
          found[statement.integer(0)] = Self.candidate(
            statement, kind, idle: max(0, now - statement.integer(4)), uses: UInt64(clamping: statement.integer(5)),
            isUnfinished: isUnfinished)
        }
      }
      // Of equal scores, the lower number is older and comes first.
      return found.values.sorted { ($0.score, $0.number) < ($1.score, $1.number) }
    }
  }

  /// Returns the sum of the bytes of incomplete objects.
  func partialBytes() throws(StoreError) -> UInt64 {
    try database.withLock { (database) throws(StoreError) in
      let statement = try database.statement("SELECT coalesce(sum(held), 0) FROM objects WHERE complete = 0")
      defer { statement.reset() }
      return try statement.step() ? UInt64(clamping: statement.integer(0)) : 0
    }
  }

  /// Returns the objects with numbers below `number` for which `isOne` returns `true`. Reads all rows with such numbers.
  func objects(
    before number: Int64, _ isOne: (_ key: [UInt8], _ number: Int64) -> Bool
  ) throws(StoreError) -> [EvictionCandidate] {
    try database.withLock { (database) throws(StoreError) in
      let statement = try database.statement(
        "SELECT number, id, key_hash, held, key FROM objects WHERE number < ?1")
      defer { statement.reset() }
      try statement.bind([.integer(number)])
      var found: [EvictionCandidate] = []
      while try statement.step() {
        guard isOne(statement.blob(4), statement.integer(0)), let candidate = Self.candidate(statement, .superseded)
        else { continue }
        found.append(candidate)
      }
      return found
    }
  }

  /// Makes a candidate from a row that begins with number, id, key_hash and held.
  private static func candidate(
    _ row: Statement, _ kind: EvictionClass, idle: Int64 = 0, uses: UInt64 = 0, isUnfinished: Bool = false
  ) -> EvictionCandidate? {
    guard let id = ObjectID(bytes: row.blob(1)) else { return nil }
    return EvictionCandidate(
      number: row.integer(0), id: id, keyHash: UInt64(bitPattern: row.integer(2)),
      held: UInt64(clamping: row.integer(3)), kind, idle: idle, uses: uses, isUnfinished: isUnfinished)
  }

  // MARK: Rows

  private static func rows(
    _ database: Database, _ condition: String, _ value: SQLValue
  ) throws(StoreError) -> [ObjectRow] {
    let statement = try database.statement(
      """
      SELECT number, id, key_hash, key, kind, owner, head, total, complete, held, synced, suspect, stored_at,
        superseded_at, last_used, uses, expires FROM objects WHERE \(condition) ORDER BY number DESC
      """)
    defer { statement.reset() }
    try statement.bind([value])
    var rows: [ObjectRow] = []
    while try statement.step() {
      guard let id = ObjectID(bytes: statement.blob(1)), let kind = ObjectRow.Kind(rawValue: statement.integer(4))
      else { throw .catalogue(code: 11, message: "a row that pawl did not write") }
      rows.append(
        ObjectRow(
          number: statement.integer(0), id: id, keyHash: UInt64(bitPattern: statement.integer(2)),
          key: statement.blob(3), kind: kind, owner: kind == .shared ? nil : statement.blob(5),
          head: statement.blob(6), total: statement.optionalInteger(7).map { UInt64(clamping: $0) },
          isComplete: statement.integer(8) == 1, held: UInt64(clamping: statement.integer(9)),
          synced: UInt64(clamping: statement.integer(10)), isSuspect: statement.integer(11) != 0,
          isExact: statement.integer(11) == 2,
          storedAt: statement.integer(12), supersededAt: statement.optionalInteger(13),
          lastUsed: statement.integer(14), uses: UInt64(clamping: statement.integer(15)),
          expires: statement.optionalInteger(16)))
    }
    return rows
  }

  private static func segments(_ database: Database, _ number: Int64) throws(StoreError) -> [SegmentRecord] {
    let statement = try database.statement(
      "SELECT offset, length, xxh3, sequence FROM segments WHERE object = ?1 ORDER BY offset")
    defer { statement.reset() }
    try statement.bind([.integer(number)])
    var records: [SegmentRecord] = []
    while try statement.step() {
      records.append(
        SegmentRecord(
          offset: UInt64(clamping: statement.integer(0)), length: UInt64(clamping: statement.integer(1)),
          digest: UInt64(bitPattern: statement.integer(2)), sequence: UInt64(clamping: statement.integer(3))))
    }
    return records
  }

  private static func tags(_ database: Database, _ number: Int64) throws(StoreError) -> [TagRecord] {
    let statement = try database.statement(
      "SELECT opaque, \"limit\" FROM tags WHERE object = ?1 ORDER BY position")
    defer { statement.reset() }
    try statement.bind([.integer(number)])
    var tags: [TagRecord] = []
    while try statement.step() {
      let limit = statement.integer(1)
      tags.append(TagRecord(tag: statement.blob(0), limit: limit == .max ? .max : UInt64(clamping: limit)))
    }
    return tags
  }
}
