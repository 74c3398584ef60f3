package import PawlCache
package import PawlDisk

/// The row of an object as it is first written.
package struct ObjectRow: Sendable {
  package enum Kind: Int64, Sendable {
    case shared = 0, personal = 1
    /// A coded form of another object under the same key. ``ObjectRow/owner`` has the id of that object, and the coding.
    case coded = 2
  }

  /// The number by which the catalogue identifies the object. A number is used again only if the newest object was removed and
  /// pawl was restarted.
  var number: Int64
  var id: ObjectID
  var keyHash: UInt64
  var key: [UInt8]
  var kind: Kind
  /// The owner of a personal response; the ``CodedForm/Origin/bytes`` of a coded form.
  var owner: [UInt8]?
  var head: [UInt8]
  var total: UInt64?
  var isComplete: Bool
  /// The number of bytes held, as they count against `max-size`.
  var held: UInt64
  /// Segments that were recorded with this sequence number or a lower one are synced to the disk.
  var synced: UInt64
  /// Whether the object was incomplete when pawl ended without closing the cache, and was not loaded since.
  var isSuspect: Bool
  /// For such an object: whether all bytes that readers have got are recorded. If so, and if the bytes agree with their digests,
  /// the tags of the object are not limited to fewer bytes.
  var isExact = false
  /// Seconds since 1970. ``supersededAt``, ``lastUsed`` and ``expires`` have the same unit.
  var storedAt: Int64
  var supersededAt: Int64?
  var lastUsed: Int64
  var uses: UInt64
  var expires: Int64?
}

/// One change to the catalogue. Changes of one object are applied in the order in which they were submitted.
package enum CatalogueChange: Sendable {
  case insert(ObjectRow)
  case remove(Int64)
  case head(Int64, [UInt8])
  case total(Int64, UInt64)
  case segments(Int64, [SegmentRecord], held: UInt64)
  /// Some bytes are damaged, so the object is not complete. The rows of its segments stay, because their digests reveal the
  /// damage after a restart, and prove the bytes that replace the damaged ones.
  case cut(Int64, held: UInt64)
  /// The bytes of all segments up to this sequence number are synced to the disk.
  case synced(Int64, sequence: UInt64)
  case complete(Int64, total: UInt64)
  case superseded(Int64, at: Int64)
  /// The object is not superseded any more.
  case current(Int64)
  /// All tags of the object, which replace the earlier ones. The first is the primary one.
  case tags(Int64, [TagRecord])
  case cleared(Int64)
  /// A coded form belongs to another object from now on.
  case owner(Int64, [UInt8])
  case used(Int64, at: Int64, uses: UInt64)
  case meta(String, Int64)
  /// Objects below this key are out of date if their number is lower than this one.
  case outdated([UInt8], Int64)
  /// No object below this key is out of date any more.
  case forgotten([UInt8])

  func apply(to database: Database) throws(StoreError) {
    switch self {
    case .insert(let row): try Self.insert(row, into: database)
    case .remove(let number):
      try database.run("DELETE FROM segments WHERE object = ?1", .integer(number))
      try database.run("DELETE FROM tags WHERE object = ?1", .integer(number))
      try database.run("DELETE FROM objects WHERE number = ?1", .integer(number))
    case .head(let number, let head):
      try database.run("UPDATE objects SET head = ?2 WHERE number = ?1", .integer(number), .blob(head))
    case .total(let number, let total):
      try database.run("UPDATE objects SET total = ?2 WHERE number = ?1", .integer(number), .number(total))
    case .segments(let number, let records, let held):
      for record in records {
        try database.run(
          "INSERT OR REPLACE INTO segments(object, offset, length, xxh3, sequence) VALUES(?1, ?2, ?3, ?4, ?5)",
          .integer(number), .number(record.offset), .number(record.length), .bits(record.digest),
          .number(record.sequence))
      }
      try database.run("UPDATE objects SET held = ?2 WHERE number = ?1", .integer(number), .number(held))
    case .cut(let number, let held):
      try database.run(
        "UPDATE objects SET held = ?2, complete = 0 WHERE number = ?1", .integer(number), .number(held))
    case .synced(let number, let sequence):
      try database.run("UPDATE objects SET synced = ?2 WHERE number = ?1", .integer(number), .number(sequence))
    case .complete(let number, let total):
      try database.run(
        "UPDATE objects SET complete = 1, total = ?2 WHERE number = ?1", .integer(number), .number(total))
    case .superseded(let number, let time):
      try database.run("UPDATE objects SET superseded_at = ?2 WHERE number = ?1", .integer(number), .integer(time))
    case .current(let number):
      try database.run("UPDATE objects SET superseded_at = NULL WHERE number = ?1", .integer(number))
    case .tags(let number, let tags): try Self.replaceTags(number, tags, in: database)
    case .cleared(let number):
      try database.run("UPDATE objects SET suspect = 0 WHERE number = ?1", .integer(number))
    case .owner(let number, let owner):
      try database.run("UPDATE objects SET owner = ?2 WHERE number = ?1", .integer(number), .blob(owner))
    case .used(let number, let time, let uses):
      try database.run(
        "UPDATE objects SET last_used = ?2, uses = ?3 WHERE number = ?1", .integer(number), .integer(time),
        .number(uses))
    case .meta(let name, let value): try CatalogueSchema.setMeta(database, name, value)
    case .outdated(let tree, let number): try OutdatedRows.record(tree, number, in: database)
    case .forgotten(let tree): try OutdatedRows.remove(tree, from: database)
    }
  }

  private static func insert(_ row: ObjectRow, into database: Database) throws(StoreError) {
    try database.run(
      """
      INSERT OR REPLACE INTO objects(number, id, key_hash, key, kind, owner, head, total, complete, held, synced,
        suspect, stored_at, superseded_at, last_used, uses, expires)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
      """, .integer(row.number), .blob(row.id.bytes), .bits(row.keyHash), .blob(row.key), .integer(row.kind.rawValue),
      row.owner.map { .blob($0) } ?? .null, .blob(row.head), .optional(row.total), .integer(row.isComplete ? 1 : 0),
      .number(row.held), .number(row.synced), .integer(row.isSuspect ? 1 : 0), .integer(row.storedAt),
      .optional(row.supersededAt), .integer(row.lastUsed), .number(row.uses), .optional(row.expires))
  }

  private static func replaceTags(_ number: Int64, _ tags: [TagRecord], in database: Database) throws(StoreError) {
    try database.run("DELETE FROM tags WHERE object = ?1", .integer(number))
    for (position, tag) in tags.enumerated() {
      try database.run(
        "INSERT OR REPLACE INTO tags(object, opaque, position, \"limit\") VALUES(?1, ?2, ?3, ?4)", .integer(number),
        .blob(tag.tag), .integer(Int64(position)), .number(tag.limit))
    }
  }
}

/// Changes to the rows of bodies, in their order.
package struct CatalogueChanges: RowChanges {
  var list: [CatalogueChange]
  package var count: Int { list.count }

  package func apply(to database: Database) throws(StoreError) {
    for change in list { try change.apply(to: database) }
  }

  /// Returns all changes unchanged. Most describe only a part of a body, so none replaces another.
  package func compacted(before later: inout Set<RowSubject>) -> CatalogueChanges { self }
}
