import CLinux
package import PawlDisk
package import PawlUpload

/// An upload as the command line shows it.
package struct UploadSummary: Hashable, Sendable {
  package var id: UploadID
  package var phase: UploadPhase
  /// The recorded number of bytes.
  package var offset: UInt64
  package var length: UInt64?
  package var method: [UInt8]
  package var scheme: [UInt8]
  package var authority: [UInt8]
  package var target: [UInt8]
  package var clientAddress: [UInt8]
  package var isTus: Bool
  /// When the upload was created; wall clock, seconds since 1970, like all times here.
  package var createdAt: Int64
  package var lastByteAt: Int64
  /// When the upload expires, as known when its row was last recorded.
  package var expires: Int64?
  /// The number of delivery attempts, including the one under way.
  package var attempts: Int
  package var lastError: String?
  package var nextAttempt: Int64?
  package var originStatus: Int?
  package var isAnswerDelivered: Bool

  init(_ recorded: UploadCatalogue.Recorded) {
    let (row, origin) = (recorded.row, recorded.origin)
    (id, phase, offset, length) = (recorded.id, row.phase, row.offset, row.length)
    method = origin?.head.method.bytes ?? []
    scheme = origin?.scheme ?? []
    authority = origin.map { Array($0.head.authority) } ?? []
    target = origin.map { Array($0.head.target) } ?? []
    clientAddress = origin?.clientAddress ?? []
    isTus = origin?.isTus ?? false
    (createdAt, lastByteAt, expires) = (recorded.createdAt, row.lastByteAt, row.expires)
    // The row counts failed attempts only.
    let last = [.forwarding, .sent, .answered, .unknown].contains(row.phase) ? 1 : 0
    (attempts, lastError, nextAttempt) = (Int(row.attempts) + last, row.lastError, row.nextAttempt)
    (originStatus, isAnswerDelivered) = (row.originStatus.map { Int($0) }, row.isAnswerDelivered)
  }
}

/// Reads a spool's catalogue, also while a server has the spool open. Blocking.
package enum UploadCatalogueReading {
  /// Returns all uploads in the order of their creation, without tombstones.
  /// - Parameter path: the spool's directory. A directory without a catalogue has no uploads.
  /// - Throws: an error also if the directory does not exist or cannot be read.
  package static func list(_ path: String) throws(StoreError) -> [UploadSummary] {
    try read(path, "phase <> \(UploadPhase.removed.rawValue)", [])
  }

  /// Whether it is certain that there is no such directory; `false` if this cannot be found out.
  package static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && pawl_errno() == ENOENT }

  /// Whether a spool still has uploads, without tombstones.
  /// - Parameter path: its directory, which may be missing.
  package static func hasUploads(_ path: String) throws(StoreError) -> Bool {
    let file = UploadCatalogue.path(in: path)
    guard Files.exists(file) else { return false }
    let database = try Database(path: file, isReader: true)
    let condition = "phase <> \(UploadPhase.removed.rawValue)"
    return try database.integer("SELECT EXISTS(SELECT 1 FROM uploads WHERE \(condition))") == 1
  }

  /// Returns one upload, also if it is a tombstone.
  package static func show(_ id: UploadID, _ path: String) throws(StoreError) -> UploadSummary? {
    try read(path, "id = ?1", [.text(id.hex)]).first
  }

  private static func read(
    _ path: String, _ condition: String, _ values: [SQLValue]
  ) throws(StoreError) -> [UploadSummary] {
    let file = UploadCatalogue.path(in: path)
    guard access(file, F_OK) == 0 else {
      if pawl_errno() != ENOENT { throw Files.failure("access", file) }
      if isMissing(path) { throw Files.failure("access", path) }
      return []
    }
    let database = try Database(path: file, isReader: true)
    var found: [UploadSummary] = []
    try UploadCatalogue.forEach(database, condition, values) { found.append(UploadSummary($0)) }
    return found
  }
}
