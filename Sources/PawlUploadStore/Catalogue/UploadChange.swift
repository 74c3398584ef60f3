package import PawlDisk
import PawlHTTP
import PawlUpload

/// The columns of an upload's row that change.
package struct UploadRow: Sendable, Equatable {
  private(set) var phase: UploadPhase
  /// The number of bytes that count. They were synced before the number was recorded.
  var offset: UInt64 = 0
  /// The offset after which bytes are being verified. After a crash these bytes do not count. `nil`: no bytes are being verified.
  var verifying: UInt64?
  var length: UInt64?
  /// The length at which the upload is complete, if all bytes of the latest creation or append request come; `nil`: that request
  /// does not complete the upload.
  var finalAt: UInt64?
  /// When the last byte came; wall clock, seconds since 1970, like all times in this row.
  var lastByteAt: Int64
  /// When the phase last changed.
  var changedAt: Int64
  var credentials: [UInt8]?
  var attempts: Int64 = 0
  var lastError: String?
  var nextAttempt: Int64?
  var giveUpAt: Int64?
  /// When the upload expires, as known when the row was recorded.
  var expires: Int64?
  /// When an answered upload expires.
  var answerUntil: Int64?
  var originStatus: Int64?
  var isAnswerDelivered = false

  init(at time: Int64, phase: UploadPhase = .open) { (self.phase, lastByteAt, changedAt) = (phase, time, time) }

  /// Changes the phase; there is no other way to do so.
  mutating func take(_ event: UploadEvent) -> UploadStep {
    let step = phase.step(on: event)
    if case .to(let next) = step { phase = next }
    return step
  }

  /// The row as it is written to the catalogue.
  var recorded: UploadRow {
    var row = self
    row.phase = phase.recorded
    return row
  }

  /// Notes that a delivery attempt has failed.
  mutating func noteAttempt(failed why: String, nextAt: Int64?) {
    attempts += 1
    (lastError, nextAttempt) = (why, nextAt)
  }

  /// Forgets the outcome of the last attempt, because the upload is sent again.
  mutating func forgetOutcome() { (nextAttempt, originStatus) = (nil, nil) }
}

/// A row as it is written for the first time.
package struct UploadEntry: Sendable {
  var id: UploadID
  var origin: UploadOrigin
  var createdAt: Int64
  var row: UploadRow
}

/// One change to the recorded uploads.
package enum UploadChange: Sendable {
  case insert(UploadEntry)
  case update(UploadID, UploadRow)
  case answer(UploadID, UploadAnswer)
  /// Removes what was only needed to deliver the upload.
  case slim(UploadID, UploadOrigin)
  /// Removes all but the id and the phase, so that the row becomes a tombstone.
  case strip(UploadID)
  case forget(UploadID)
  case orderResult(Int64, String)
  case meta(String, Int64)

  func apply(to database: Database) throws(StoreError) {
    switch self {
    case .insert(let entry): try Self.insert(entry, into: database)
    case .update(let id, let row): try Self.update(id, row, in: database)
    case .answer(let id, let answer):
      try database.run(
        """
        INSERT OR REPLACE INTO answers(id, status, reason, fields, body, truncated, at, keep)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """, .text(id.hex), .integer(Int64(answer.status)), .text(answer.reason),
        .blob(FieldsCoding.serialize(answer.fields)), .blob(answer.body), .integer(answer.isTruncated ? 1 : 0),
        .integer(answer.at), .integer(answer.keepFor.components.seconds))
    case .slim(let id, let origin):
      try database.run("UPDATE uploads SET origin = ?2 WHERE id = ?1", .text(id.hex), .blob(origin.serialize()))
    case .strip(let id):
      try database.run(
        "UPDATE uploads SET origin = x'', credentials = NULL, target = '', client_address = '' WHERE id = ?1",
        .text(id.hex))
      try database.run("DELETE FROM answers WHERE id = ?1", .text(id.hex))
    case .forget(let id):
      try database.run("DELETE FROM uploads WHERE id = ?1", .text(id.hex))
      try database.run("DELETE FROM answers WHERE id = ?1", .text(id.hex))
    case .orderResult(let number, let result):
      try database.run("UPDATE orders SET result = ?2 WHERE number = ?1", .integer(number), .text(result))
    case .meta(let name, let value): try CatalogueSchema.setMeta(database, name, value)
    }
  }

  /// Writes a row in one statement, because inserting the row and then filling it would cost twice as much.
  private static func insert(_ entry: UploadEntry, into database: Database) throws(StoreError) {
    let (origin, head) = (entry.origin, entry.origin.head)
    let fixed: [SQLValue] = [
      .blob(origin.serialize()), .integer(entry.createdAt), .text(head.method.bytes), .text(origin.scheme),
      .text(Array(head.authority)), .text(Array(head.target)), .text(origin.clientAddress),
      .integer(origin.isTus ? 1 : 0),
    ]
    try database.statement(
      """
      INSERT OR REPLACE INTO uploads(id, phase, "offset", verifying, length, final_at, last_byte_at, changed_at,
        credentials, attempts, last_error, next_attempt, give_up_at, answer_until, origin_status, answer_delivered,
        expires, origin, created_at, method, scheme, authority, target, client_address, tus)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
        ?24, ?25)
      """
    ).run(changing(entry.id, entry.row) + fixed)
  }

  private static func update(_ id: UploadID, _ row: UploadRow, in database: Database) throws(StoreError) {
    try database.statement(
      """
      UPDATE uploads SET phase = ?2, "offset" = ?3, verifying = ?4, length = ?5, final_at = ?6, last_byte_at = ?7,
        changed_at = ?8, credentials = ?9, attempts = ?10, last_error = ?11, next_attempt = ?12, give_up_at = ?13,
        answer_until = ?14, origin_status = ?15, answer_delivered = ?16, expires = ?17 WHERE id = ?1
      """
    ).run(changing(id, row))
  }

  /// Returns the id and the columns that change, in the order of the parameters of both statements.
  private static func changing(_ id: UploadID, _ row: UploadRow) -> [SQLValue] {
    [
      .text(id.hex), .integer(row.phase.rawValue), .number(row.offset), .optional(row.verifying),
      .optional(row.length), .optional(row.finalAt), .integer(row.lastByteAt), .integer(row.changedAt),
      row.credentials.map { .blob($0) } ?? .null, .integer(row.attempts), row.lastError.map { .text($0) } ?? .null,
      .optional(row.nextAttempt), .optional(row.giveUpAt), .optional(row.answerUntil), .optional(row.originStatus),
      .integer(row.isAnswerDelivered ? 1 : 0), .optional(row.expires),
    ]
  }
}

/// Changes to the recorded uploads, in the order in which they were made.
package struct UploadChanges: RowChanges {
  var list: [UploadChange]
  package var count: Int { list.count }

  package func apply(to database: Database) throws(StoreError) {
    for change in list { try change.apply(to: database) }
  }

  /// Keeps only the last row and the last answer of each upload: each replaces the earlier ones completely.
  package func compacted(before later: inout Set<RowSubject>) -> UploadChanges {
    let kept = list.reversed().filter { change in
      switch change {
      case .update(let id, _): later.insert(RowSubject(kind: 0, id: id)).inserted
      case .answer(let id, _): later.insert(RowSubject(kind: 1, id: id)).inserted
      case .insert, .slim, .strip, .forget, .orderResult, .meta: true
      }
    }
    return UploadChanges(list: kept.reversed())
  }
}
