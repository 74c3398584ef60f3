import CLinux

/// Where log lines go.
package enum LogDestination: Sendable {
  case off
  case standardError
  /// A file that is appended to, and made with mode 0640 when it is not there.
  case file(path: String)
  /// Whole lines, several at a time, on the log's own thread; for tests and for embedding.
  case closure(@Sendable ([UInt8]) -> Void)
}

/// A log file could not be opened.
package struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
  package let path: String
  /// `errno`.
  package let code: CInt

  package var description: String { "cannot open the log \(path): \(String(cString: strerror(code)))" }
}

/// An open destination. Used by the writer's thread only, but for its making.
struct LogOutput: ~Copyable {
  private let destination: LogDestination
  private var descriptor: CInt

  init(_ destination: LogDestination) throws(LogError) {
    self.destination = destination
    switch destination {
    case .off, .closure: descriptor = -1
    case .standardError: descriptor = 2
    case .file(let path): descriptor = try Self.open(path)
    }
  }

  deinit { if descriptor > 2 { _ = close(descriptor) } }

  /// Opens the file anew, after it was renamed by whoever rotates it; keeps the old one when that fails.
  mutating func reopen() throws(LogError) {
    guard case .file(let path) = destination else { return }
    let fresh = try Self.open(path)
    if descriptor > 2 { _ = close(descriptor) }
    descriptor = fresh
  }

  /// Writes all of it; false when the destination refused a part (disk full, broken pipe).
  func write(_ bytes: [UInt8]) -> Bool {
    if case .closure(let receive) = destination {
      receive(bytes)
      return true
    }
    guard descriptor >= 0 else { return true }
    return bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = CLinux.write(descriptor, piece.baseAddress, piece.count)
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if count == 0 || !waitAfterFailure() {
          return false
        }
      }
      return true
    }
  }

  /// Whether writing is worth another try: after a signal, or once a non-blocking pipe has room again.
  private func waitAfterFailure() -> Bool {
    switch pawl_errno() {
    case EINTR: return true
    case EAGAIN:
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      return poll(&entry, 1, 1000) > 0
    default: return false
    }
  }

  private static func open(_ path: String) throws(LogError) -> CInt {
    let descriptor = pawl_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY, 0o640)
    guard descriptor >= 0 else { throw LogError(path: path, code: pawl_errno()) }
    return descriptor
  }
}
