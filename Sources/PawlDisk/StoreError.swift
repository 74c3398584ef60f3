import CLinux

/// Why the store could not do something. Nothing of it is ever an error to a reader that has its bytes.
package enum StoreError: Error, Hashable, Sendable {
  /// Another process has this cache directory.
  case inUse(path: String)
  /// The budget, the file system or a quota has no room: stop storing and stream.
  case full
  /// The body was dropped or failed while it was written.
  case dropped
  /// More bytes than the body's total.
  case beyondTotal
  /// What came in the place of lost bytes hashes to something else: it is other content. They stay lost.
  case differs
  /// A system call failed.
  case system(call: String, path: String, errno: CInt)
  /// SQLite failed with this extended result code.
  case catalogue(code: CInt, message: String)

  /// Whether the process was short of something just now: not the file's fault.
  package var isOfThisMoment: Bool {
    guard case .system(_, _, let errno) = self else { return false }
    return [EMFILE, ENFILE, ENOMEM, EINTR].contains(errno)
  }

  /// Whether the catalogue file itself is not what pawl wrote.
  package var isCorruptCatalogue: Bool {
    guard case .catalogue(let code, _) = self else { return false }
    // SQLITE_CORRUPT, SQLITE_NOTADB and pawl's own "another schema"; the low byte is the primary code.
    return [11, 26, Self.foreignSchema].contains(code & 0xff)
  }

  /// SQLITE_FORMAT, which SQLite itself no longer uses: the schema is of another version.
  package static let foreignSchema: CInt = 24
  /// SQLITE_ERROR: a commit that failed for a reason the log has.
  package static let failedCommit: CInt = 1
  /// SQLITE_CORRUPT.
  package static let corrupt: CInt = 11

  /// Whether the catalogue is of another version.
  package var isForeignSchema: Bool {
    guard case .catalogue(let code, _) = self else { return false }
    return code & 0xff == Self.foreignSchema
  }
}

extension StoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .inUse(let path): "\(path) is used by another process"
    case .full: "no room"
    case .dropped: "the body was dropped"
    case .beyondTotal: "more bytes than announced"
    case .differs: "other bytes than those that were lost"
    case .system(let call, let path, let errno): "\(call) \(path): \(Files.text(of: errno))"
    case .catalogue(let code, let message): "catalogue: \(message) (\(code))"
    }
  }
}
