import CLinux
import PawlCache
import PawlDisk

/// Copies ledger records that the catalogue does not have into the catalogue, if pawl had ended without closing the cache. The
/// bytes that they describe are compared with their digests before they are used, like all bytes that were not synced.
enum LedgerReplay {
  /// Replays the ledger. Blocking.
  /// - Returns: the highest sequence number in the ledger or the catalogue.
  static func run(in directory: String, into database: Database) throws(StoreError) -> UInt64 {
    let known = UInt64(clamping: try CatalogueSchema.meta(database, Ledger.sequenceName) ?? 0)
    let records = LedgerRecord.all(in: try read(directory + Ledger.name)).sorted { $0.sequence < $1.sequence }
    guard let last = records.map(\.sequence).max() else { return known }
    var extents: [Int64: [UInt64: SegmentRecord]] = [:]
    try database.run("BEGIN IMMEDIATE")
    for record in records {
      switch record.content {
      // Only records that the catalogue did not have, because it may have removed the objects of earlier records since.
      case .birth(let row, let tags) where record.sequence > known:
        guard try database.integer("SELECT 1 FROM objects WHERE number = ?1", .integer(row.number)) == nil else {
          break
        }
        try CatalogueChange.insert(row).apply(to: database)
        try CatalogueChange.tags(row.number, tags).apply(to: database)
      case .tags(let tags) where record.sequence > known:
        guard try database.integer("SELECT 1 FROM objects WHERE number = ?1", .integer(record.number)) != nil else {
          break
        }
        try CatalogueChange.tags(record.number, tags).apply(to: database)
      case .birth, .tags: break
      case .extent(let segment):
        let longest = extents[record.number]?[segment.offset]?.length ?? 0
        if segment.length > longest { extents[record.number, default: [:]][segment.offset] = segment }
      }
    }
    for (number, segments) in extents { try note(Array(segments.values), of: number, in: database) }
    try CatalogueSchema.setMeta(database, Ledger.sequenceName, Int64(clamping: max(known, last)))
    try database.run("COMMIT")
    return max(known, last)
  }

  private static func read(_ path: String) throws(StoreError) -> [UInt8] {
    guard Files.exists(path) else { return [] }
    let descriptor = try Files.open(path, O_RDONLY | O_NOFOLLOW)
    defer { close(descriptor) }
    let size = min(try Files.size(descriptor, path), UInt64(2 * Ledger.half))
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var outcome: Result<Int, StoreError> = .success(0)
    bytes.withUnsafeMutableBytes { buffer in
      outcome = Result { () throws(StoreError) in try Files.read(descriptor, buffer, at: 0) }
    }
    return Array(bytes.prefix(try outcome.get()))
  }

  /// Stores segments that are longer than those that the catalogue has at the same offset.
  private static func note(_ segments: [SegmentRecord], of number: Int64, in database: Database) throws(StoreError) {
    guard let synced = try database.integer("SELECT synced FROM objects WHERE number = ?1", .integer(number)) else {
      return
    }
    var news: [SegmentRecord] = []
    for var segment in segments {
      let known = try database.integer(
        "SELECT length FROM segments WHERE object = ?1 AND offset = ?2", .integer(number), .number(segment.offset))
      guard UInt64(clamping: known ?? 0) < segment.length else { continue }
      segment.sequence = UInt64(clamping: synced) + 1
      news.append(segment)
    }
    guard !news.isEmpty else { return }
    try CatalogueChange.segments(number, news, held: 0).apply(to: database)
    try database.run(
      "UPDATE objects SET held = (SELECT sum(length) FROM segments WHERE object = ?1) WHERE number = ?1",
      .integer(number))
  }
}
