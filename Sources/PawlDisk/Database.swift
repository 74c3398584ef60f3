import CSQLite

/// A SQLite connection and its prepared statements. Used by one thread at a time.
package final class Database {
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens the file, or creates it. A connection with `isReader` cannot write, and does not create the file.
  package init(path: String, isReader: Bool) throws(StoreError) {
    var opened: OpaquePointer?
    let flags = (isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened else { throw .catalogue(code: code, message: "no memory") }
    handle = opened
    sqlite3_extended_result_codes(handle, 1)
    guard code == SQLITE_OK else { throw failure() }
    sqlite3_busy_timeout(handle, 5_000)
    pawl_sqlite_defensive(handle)
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Returns the last error of SQLite.
  package func failure() -> StoreError {
    .catalogue(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs statements whose rows, if any, are ignored.
  package func execute(_ sql: String) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  /// Returns the prepared statement for this text. It is prepared at the first call, and kept.
  package func statement(_ sql: String) throws(StoreError) -> Statement {
    if let known = statements[sql] { return known }
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil) == SQLITE_OK,
      let prepared
    else { throw failure() }
    let statement = Statement(prepared, of: self)
    statements[sql] = statement
    return statement
  }

  /// Runs one statement with these values.
  package func run(_ sql: String, _ values: SQLValue...) throws(StoreError) {
    try statement(sql).run(values)
  }

  /// Returns the first column of the first row as an integer; `nil`: there is no row, or the column is NULL.
  package func integer(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? statement.optionalInteger(0) : nil
  }
}

/// A value of a column.
package enum SQLValue {
  case null
  case integer(Int64)
  case blob([UInt8])
  case text([UInt8])

  /// An offset or a length. In pawl these are below 2^63. A larger value is stored as `Int64.max`, such as the `.max` of a tag that
  /// is valid for all bytes.
  package static func number(_ value: UInt64) -> SQLValue { .integer(Int64(clamping: value)) }
  /// All 64 bits of a digest or a hash.
  package static func bits(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
  /// The value, or NULL for `nil`.
  package static func optional(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
  /// Text in UTF-8.
  package static func text(_ value: String) -> SQLValue { .text(Array(value.utf8)) }
  /// The value, or NULL for `nil`.
  package static func optional(_ value: UInt64?) -> SQLValue { value.map { .number($0) } ?? .null }
}

/// A prepared statement. It has to be reset after each use.
package final class Statement {
  private let handle: OpaquePointer
  private unowned let database: Database

  fileprivate init(_ handle: OpaquePointer, of database: Database) { (self.handle, self.database) = (handle, database) }

  deinit { sqlite3_finalize(handle) }

  /// Binds these values to the parameters, from `?1` on.
  package func bind(_ values: [SQLValue]) throws(StoreError) {
    for (index, value) in values.enumerated() {
      let position = CInt(index + 1)
      let code =
        switch value {
        case .null: sqlite3_bind_null(handle, position)
        case .integer(let integer): sqlite3_bind_int64(handle, position, integer)
        case .blob(let bytes): pawl_sqlite_bind_blob(handle, position, bytes, CInt(clamping: bytes.count))
        case .text(let bytes): pawl_sqlite_bind_text(handle, position, bytes, CInt(clamping: bytes.count))
        }
      guard code == SQLITE_OK else { throw database.failure() }
    }
  }

  /// Runs the statement with these values to its end.
  package func run(_ values: [SQLValue]) throws(StoreError) {
    defer { reset() }
    try bind(values)
    while try step() {}
  }

  /// Goes to the next row. `false`: there are no more rows.
  package func step() throws(StoreError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.failure()
    }
  }

  /// Makes the statement ready to run again, with other values.
  package func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Returns the integer in this column of the current row; 0 for NULL. The first column is 0.
  package func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }
  /// Returns the integer in this column of the current row; `nil` for NULL.
  package func optionalInteger(_ column: CInt) -> Int64? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
  }

  /// Returns the bytes of a blob or text; empty for NULL.
  package func blob(_ column: CInt) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
