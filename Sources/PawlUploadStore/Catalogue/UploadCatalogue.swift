import CLinux
import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpload

/// The database `uploads.sqlite`: its tables, how it is opened, and how rows are read.
enum UploadCatalogue {
  /// The version of the tables. A spool of another version is not opened, and not replaced, because its uploads may be the only
  /// copies.
  static let version: Int64 = 1

  static func path(in directory: String) -> String { directory + "/uploads.sqlite" }

  private static let tables = """
    CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE uploads(
      id TEXT PRIMARY KEY, phase INTEGER NOT NULL, "offset" INTEGER NOT NULL, length INTEGER, final_at INTEGER,
      verifying INTEGER, method TEXT NOT NULL, scheme TEXT NOT NULL, authority TEXT NOT NULL, target TEXT NOT NULL,
      client_address TEXT NOT NULL, tus INTEGER NOT NULL, created_at INTEGER NOT NULL, last_byte_at INTEGER NOT NULL,
      changed_at INTEGER NOT NULL, expires INTEGER, attempts INTEGER NOT NULL, last_error TEXT, next_attempt INTEGER,
      give_up_at INTEGER, origin_status INTEGER, answer_until INTEGER, answer_delivered INTEGER NOT NULL,
      origin BLOB NOT NULL, credentials BLOB);
    CREATE TABLE answers(
      id TEXT PRIMARY KEY, status INTEGER NOT NULL, reason TEXT NOT NULL, fields BLOB NOT NULL, body BLOB NOT NULL,
      truncated INTEGER NOT NULL, at INTEGER NOT NULL, keep INTEGER NOT NULL);
    CREATE TABLE orders(
      number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, "order" TEXT NOT NULL, result TEXT);
    CREATE INDEX uploads_by_creation ON uploads(created_at);
    """

  /// Opens the catalogue. A corrupt catalogue is moved aside together with the bodies, so that the operator can still save the
  /// uploads. Bodies without a catalogue are moved aside, too.
  static func open(in directory: String, _ events: EventLog) throws(StoreError) -> Database {
    let mark = BrokenCatalogue.mark(in: directory)
    if Files.exists(mark) {
      try moveAside(directory, "it was found corrupt while pawl ran", events)
      try Files.unlink(mark)
    }
    if !Files.exists(path(in: directory)), try hasBodies(directory) {
      let place = try moveBodiesAside(directory, from: 1)
      events.log(.error, "upload-files-moved-aside", ["to": place, "why": "the catalogue is missing"])
    }
    do throws(StoreError) {
      return try load(directory)
    } catch {
      guard error.isCorruptCatalogue, !error.isForeignSchema else { throw error }
      try moveAside(directory, "\(error)", events)
      return try load(directory)
    }
  }

  private static func load(_ directory: String) throws(StoreError) -> Database {
    let path = path(in: directory)
    // SQLite would create the file with mode 0644 less the umask, so it is created here with 0600. The `-wal` and `-shm` files get
    // the same mode.
    close(try Files.open(path, O_RDWR | O_CREAT))
    let database = try Database(path: path, isReader: false)
    if try CatalogueSchema.prepare(database, tables: tables, version: version) { try Files.syncDirectory(directory) }
    try database.execute("PRAGMA synchronous = FULL")
    // Damage has to be found now, not when an upload is read.
    let statement = try database.statement("PRAGMA quick_check(1)")
    defer { statement.reset() }
    guard try statement.step(), statement.blob(0) == Array("ok".utf8) else {
      throw .catalogue(code: StoreError.corrupt, message: "quick_check found damage")
    }
    return database
  }

  private static func hasBodies(_ directory: String) throws(StoreError) -> Bool {
    let bodies = directory + "/bodies"
    return Files.exists(bodies) ? try !Files.names(in: bodies).isEmpty : false
  }

  private static func moveAside(_ directory: String, _ why: String, _ events: EventLog) throws(StoreError) {
    let number = try BrokenCatalogue.moveAside(path(in: directory), why, events)
    if Files.exists(directory + "/bodies") { _ = try moveBodiesAside(directory, from: number) }
  }

  /// Moves the bodies aside.
  /// - Returns: the new path of the directory with the bodies.
  private static func moveBodiesAside(_ directory: String, from first: Int) throws(StoreError) -> String {
    let bodies = directory + "/bodies"
    var number = first
    while Files.exists("\(bodies).bad-\(number)") { number += 1 }
    guard rename(bodies, "\(bodies).bad-\(number)") == 0 else { throw Files.failure("rename", bodies) }
    return "\(bodies).bad-\(number)"
  }

  // MARK: Rows

  /// An upload as it is recorded in the catalogue; tombstones (the rows of removed uploads) have no `origin`.
  struct Recorded {
    var id: UploadID
    var origin: UploadOrigin?
    var createdAt: Int64
    var row: UploadRow
  }

  /// Calls `body` for all rows that satisfy the condition, in the order of their creation.
  static func forEach(
    _ database: Database, _ condition: String = "1", _ values: [SQLValue] = [], _ body: (Recorded) -> Void
  ) throws(StoreError) {
    let statement = try database.statement(
      """
      SELECT id, origin, created_at, phase, "offset", verifying, length, final_at, last_byte_at, changed_at,
        credentials, attempts, last_error, next_attempt, give_up_at, answer_until, origin_status, answer_delivered, expires
      FROM uploads WHERE \(condition) ORDER BY created_at, id
      """)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {
      guard let id = ObjectID(hex: statement.blob(0)), let phase = UploadPhase(rawValue: statement.integer(3)) else {
        throw .catalogue(code: StoreError.corrupt, message: "a row that pawl did not write")
      }
      var row = UploadRow(at: 0, phase: phase)
      row.offset = UInt64(clamping: statement.integer(4))
      row.verifying = statement.optionalNumber(5)
      row.length = statement.optionalNumber(6)
      row.finalAt = statement.optionalNumber(7)
      (row.lastByteAt, row.changedAt) = (statement.integer(8), statement.integer(9))
      row.credentials = statement.isNull(10) ? nil : statement.blob(10)
      row.attempts = statement.integer(11)
      row.lastError = statement.isNull(12) ? nil : String(decoding: statement.blob(12), as: UTF8.self)
      (row.nextAttempt, row.giveUpAt) = (statement.optionalInteger(13), statement.optionalInteger(14))
      (row.answerUntil, row.originStatus) = (statement.optionalInteger(15), statement.optionalInteger(16))
      row.isAnswerDelivered = statement.integer(17) == 1
      row.expires = statement.optionalInteger(18)
      body(
        Recorded(
          id: id, origin: UploadOrigin(serialized: statement.blob(1)), createdAt: statement.integer(2), row: row))
    }
  }

  static func answer(_ database: Database, _ id: UploadID) throws(StoreError) -> UploadAnswer? {
    let statement = try database.statement(
      "SELECT status, reason, fields, body, truncated, at, keep FROM answers WHERE id = ?1")
    defer { statement.reset() }
    try statement.bind([.text(id.hex)])
    guard try statement.step(), let fields = FieldsCoding.fields(statement.blob(2)) else { return nil }
    return UploadAnswer(
      status: Int(statement.integer(0)), reason: statement.blob(1), fields: fields, body: statement.blob(3),
      isTruncated: statement.integer(4) == 1, at: statement.integer(5), keepFor: .seconds(statement.integer(6)))
  }

  /// Returns the sizes of all stored answers in bytes (``UploadRecord/size(of:)``).
  static func answerSizes(_ database: Database) throws(StoreError) -> [UploadID: UInt64] {
    let statement = try database.statement(
      "SELECT id, length(body) + length(CAST(reason AS BLOB)) + length(fields) FROM answers")
    defer { statement.reset() }
    try statement.bind([])
    var sizes: [UploadID: UInt64] = [:]
    while try statement.step() {
      if let id = ObjectID(hex: statement.blob(0)) { sizes[id] = UInt64(clamping: statement.integer(1)) }
    }
    return sizes
  }

  /// Returns the orders that are not carried out yet.
  static func openOrders(_ database: Database) throws(StoreError) -> [UploadOrder] {
    let statement = try database.statement(
      "SELECT number, id, \"order\" FROM orders WHERE result IS NULL ORDER BY number")
    defer { statement.reset() }
    var orders: [UploadOrder] = []
    while try statement.step() {
      guard let id = ObjectID(hex: statement.blob(1)),
        let kind = UploadOrder.Kind(rawValue: String(decoding: statement.blob(2), as: UTF8.self))
      else { continue }
      orders.append(UploadOrder(number: statement.integer(0), id: id, kind: kind))
    }
    return orders
  }
}

extension Statement {
  func isNull(_ column: CInt) -> Bool { optionalInteger(column) == nil }
  func optionalNumber(_ column: CInt) -> UInt64? { optionalInteger(column).map { UInt64(clamping: $0) } }
}
