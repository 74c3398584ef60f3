import CLinux

/// An error of a store. It never concerns readers that have their bytes already.
package enum StoreError: Error, Hashable, Sendable {
  /// Another process has the directory of the store.
  case inUse(path: String)
  /// The budget, the file system or a quota has no room: stop storing and stream.
  case full
  /// The body was dropped or failed while it was written.
  case dropped
  /// More bytes than the body's total.
  case beyondTotal
  /// The bytes that should replace lost ones have another hash, and so are other content. The bytes stay lost.
  case differs
  /// A system call failed.
  case system(call: String, path: String, errno: CInt)
  /// SQLite failed with this extended result code.
  case catalogue(code: CInt, message: String)

  /// Whether the process only lacked a resource for a moment, so that the file is not at fault.
  package var isOfThisMoment: Bool {
    guard case .system(_, _, let errno) = self else { return false }
    return [EMFILE, ENFILE, ENOMEM, EINTR].contains(errno)
  }

  /// Whether the catalogue file itself is damaged, or not of this version.
  package var isCorruptCatalogue: Bool {
    guard case .catalogue(let code, _) = self else { return false }
    // SQLITE_CORRUPT, SQLITE_NOTADB and ``foreignSchema``, the code of pawl itself; the low byte is the primary code.
    return [11, 26, Self.foreignSchema].contains(code & 0xff)
  }

  /// The code for a schema of another version: SQLITE_FORMAT, which SQLite itself does not use any more.
  package static let foreignSchema: CInt = 24
  /// The code for a commit that failed for a reason that is logged: SQLITE_ERROR.
  package static let failedCommit: CInt = 1
  /// The code for a damaged file: SQLITE_CORRUPT.
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
