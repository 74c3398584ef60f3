import CLinux
package import PawlDisk
import PawlLoop
import PawlUpload

/// An order of the operator to remove or resend an upload.
package struct UploadOrder: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable { case remove = "rm", resend }
  package let number: Int64
  package let id: UploadID
  package let kind: Kind
}

/// Gives orders from the command line. The server that has the spool open gets an order through the catalogue; if no server runs,
/// the order is carried out directly.
package enum UploadOrders {
  package enum Outcome: Hashable, Sendable {
    case done
    /// There is no such upload.
    case unknownUpload
    /// The phase of the upload does not allow the order; the text is the phase.
    case refused(String)
    /// A server has the spool open, and did not report in time. The order may still be carried out.
    case noAnswer
  }

  static let done = "done"
  static let missing = "missing"

  /// Gives an order and returns its outcome. Blocking; waits at most `patience` for the server.
  /// - Parameter path: the spool's directory.
  package static func give(
    _ kind: UploadOrder.Kind, _ id: UploadID, path: String, patience: Duration = .seconds(10)
  ) throws(StoreError) -> Outcome {
    guard Files.exists(UploadCatalogue.path(in: path)) else { return .unknownUpload }
    do throws(StoreError) {
      let lock = try DirectoryLock(path)
      defer { lock.release() }
      return try carryOut(kind, id, path)
    } catch {
      guard case .inUse = error else { throw error }
      return try ask(kind, id, path, patience)
    }
  }

  /// Carries out an order while this process holds the directory lock, so no server runs, and none can start meanwhile.
  private static func carryOut(_ kind: UploadOrder.Kind, _ id: UploadID, _ path: String) throws(StoreError) -> Outcome {
    let database = try Database(path: UploadCatalogue.path(in: path), isReader: false)
    try database.execute("PRAGMA synchronous = FULL")
    var found: UploadRow?
    try UploadCatalogue.forEach(database, "id = ?1", [.text(id.hex)]) { found = $0.row }
    guard var row = found else { return .unknownUpload }
    let phase = row.phase
    row.changedAt = SystemClock().wallSeconds()
    switch kind {
    case .remove:
      guard case .to = row.take(.removedAtRest) else { return .unknownUpload }
      row.credentials = nil
      try UploadChange.update(id, row).apply(to: database)
      try UploadChange.strip(id).apply(to: database)
      try Files.unlink("\(path)/bodies/\(id.hex)")
    case .resend:
      // An upload that was `sent` when the server ended may be resent like one of phase `unknown`.
      guard phase != .removed else { return .unknownUpload }
      guard case .to = row.take(.resendOrderedAtRest) else { return .refused("\(phase)") }
      row.forgetOutcome()
      try UploadChange.update(id, row).apply(to: database)
    }
    return .done
  }

  private static func ask(
    _ kind: UploadOrder.Kind, _ id: UploadID, _ path: String, _ patience: Duration
  ) throws(StoreError) -> Outcome {
    let database = try Database(path: UploadCatalogue.path(in: path), isReader: false)
    try database.run(
      "INSERT INTO orders(id, \"order\") VALUES(?1, ?2)", .text(id.hex), .text(kind.rawValue))
    guard let number = try database.integer("SELECT last_insert_rowid()") else { return .noAnswer }
    let clock = SystemClock()
    let end = clock.now().advanced(by: patience)
    while true {
      if let result = try result(of: number, database) {
        try database.run("DELETE FROM orders WHERE number = ?1", .integer(number))
        switch result {
        case done: return .done
        case missing: return .unknownUpload
        default: return .refused(result)
        }
      }
      if clock.now() >= end { return .noAnswer }
      usleep(50_000)
    }
  }

  private static func result(of number: Int64, _ database: Database) throws(StoreError) -> String? {
    let statement = try database.statement("SELECT result FROM orders WHERE number = ?1 AND result IS NOT NULL")
    defer { statement.reset() }
    try statement.bind([.integer(number)])
    return try statement.step() ? String(decoding: statement.blob(0), as: UTF8.self) : nil
  }
}
