import CLinux

/// An error of a store. Clients that read bytes which are already stored are not affected.
package enum StoreError: Error, Hashable, Sendable {
  /// Another process has the directory of the store.
  case inUse(path: String)
  /// The budget, the file system or a quota has no space. The caller stops storing; a response still goes on to the client.
  case full
  /// Another process has taken the store over. The caller stops storing, as when there is no space.
  case handedOver
  /// The body or the upload was removed, or marked as failed, while bytes were written to it; or the pool has stopped.
  case dropped
  /// More bytes came than the total length of the body.
  case beyondTotal
  /// The bytes that should replace lost ones do not have the recorded hash, so they are different content. The lost bytes are not
  /// replaced.
  case differs
  /// A system call failed.
  case system(call: String, path: String, errno: CInt)
  /// SQLite failed with this extended result code.
  case catalogue(code: CInt, message: String)

  /// Whether the call failed only because it was interrupted, or the process was short of descriptors or memory for a moment. The
  /// file itself may be fine.
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
  /// The code for a commit that failed (SQLITE_ERROR). The reason is in the log.
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
    case .handedOver: "another process has taken over (upgrade)"
    case .dropped: "the body was dropped"
    case .beyondTotal: "more bytes than announced"
    case .differs: "other bytes than those that were lost"
    case .system(let call, let path, let errno): "\(call) \(path): \(Files.text(of: errno))"
    case .catalogue(let code, let message): "catalogue: \(message) (\(code))"
    }
  }
}
