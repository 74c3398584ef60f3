import CLinux

/// The destination of log lines.
package enum LogDestination: Sendable {
  case off
  case standardError
  /// A file. Lines are appended; a missing file is made with mode 0640.
  case file(path: String)
  /// A function that gets complete lines, several at a time, on the log's own thread; for tests and for embedding.
  case closure(@Sendable ([UInt8]) -> Void)
}

/// The error that a log file could not be opened.
package struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
  package let path: String
  /// The `errno` of the failed call.
  package let code: CInt

  package var description: String { "cannot open the log \(path): \(String(cString: strerror(code)))" }
}

/// An open destination. After the initialisation only the writer's thread uses it.
struct LogOutput: ~Copyable {
  private let destination: LogDestination
  private var descriptor: CInt
  private var tear = Tear()

  /// Whether the last line in the file is incomplete, because the file took only a part of that line. A line end is then written
  /// before the next line.
  struct Tear {
    private(set) var isTorn = false

    /// Writes all of `bytes`, after a line end if the last line is incomplete.
    /// - Parameter write: writes a piece and returns how many bytes were taken; 0 or less if the destination takes no further
    ///   bytes.
    /// - Returns: `false` if a part was refused.
    mutating func writeAll(_ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) -> Int) -> Bool {
      if isTorn {
        guard withUnsafeBytes(of: UInt8(ascii: "\n"), write) == 1 else { return false }
        isTorn = false
      }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = write(UnsafeRawBufferPointer(rebasing: rest))
        guard count > 0 else {
          if rest.startIndex > bytes.startIndex { isTorn = bytes[rest.startIndex - 1] != UInt8(ascii: "\n") }
          return false
        }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  init(_ destination: LogDestination) throws(LogError) {
    self.destination = destination
    switch destination {
    case .off, .closure: descriptor = -1
    case .standardError: descriptor = 2
    case .file(let path): descriptor = try Self.open(path)
    }
  }

  deinit { if descriptor > 2 { _ = close(descriptor) } }

  /// Reopens the file after a rotation has renamed it. Keeps the old file if opening the new one fails.
  mutating func reopen() throws(LogError) {
    guard case .file(let path) = destination else { return }
    let fresh = try Self.open(path)
    if descriptor > 2 { _ = close(descriptor) }
    (descriptor, tear) = (fresh, Tear())
  }

  /// Writes all bytes; returns `false` if the destination refused a part (disk full, broken pipe).
  mutating func write(_ bytes: [UInt8]) -> Bool {
    if case .closure(let receive) = destination {
      receive(bytes)
      return true
    }
    guard descriptor >= 0 else { return true }
    let descriptor = descriptor
    return bytes.withUnsafeBytes { bytes in
      tear.writeAll(bytes) { piece in
        while true {
          let count = CLinux.write(descriptor, piece.baseAddress, piece.count)
          if count >= 0 || !Self.waitAfterFailure(of: descriptor) { return count }
        }
      }
    }
  }

  /// Whether another attempt makes sense: after a signal, or when a full non-blocking pipe has space again within a second.
  private static func waitAfterFailure(of descriptor: CInt) -> Bool {
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
