import CLinux

/// An open destination. After the initialisation only the writer's thread uses it.
struct LogOutput: ~Copyable {
  private let destination: LogDestination
  private var descriptor: CInt
  private let socket: LogSocket?
  private var tear = Tear()

  /// The number of bytes before each message of a destination that takes messages: its length, little-endian.
  static let prefix = 4

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
    let descriptor: CInt
    var socket: LogSocket?
    switch destination {
    case .off, .closure: descriptor = -1
    case .standardError: descriptor = 2
    case .standardOutput: descriptor = 1
    case .file(let path): descriptor = try Self.open(path)
    case .syslog(let path, _):
      descriptor = -1
      socket = try LogSocket(path, sendsLargeAsFile: false)
    case .journal(let path):
      descriptor = -1
      socket = try LogSocket(path, sendsLargeAsFile: true)
    }
    (self.destination, self.descriptor, self.socket) = (destination, descriptor, socket)
  }

  deinit { if descriptor > 2 { _ = close(descriptor) } }

  /// Reopens the file after a rotation has renamed it. Keeps the old file if opening the new one fails.
  mutating func reopen() throws(LogError) {
    guard case .file(let path) = destination else { return }
    let fresh = try Self.open(path)
    if descriptor > 2 { _ = close(descriptor) }
    (descriptor, tear) = (fresh, Tear())
  }

  /// Writes all bytes: lines, or for a destination that takes messages the messages, each behind its length.
  /// - Returns: how many lines or messages were lost, because the destination refused them (disk full, broken pipe).
  mutating func write(_ bytes: [UInt8]) -> UInt64 {
    if case .closure(let receive) = destination {
      receive(bytes)
      return 0
    }
    guard !destination.takesMessages else { return send(bytes) }
    guard descriptor >= 0 else { return 0 }
    let descriptor = descriptor
    let isWritten = bytes.withUnsafeBytes { bytes in
      tear.writeAll(bytes) { piece in
        while true {
          let count = CLinux.write(descriptor, piece.baseAddress, piece.count)
          if count >= 0 || !Self.waitAfterFailure(of: descriptor) { return count }
        }
      }
    }
    return isWritten ? 0 : UInt64(bytes.count { $0 == 0x0a })
  }

  /// Sends the messages one by one.
  private mutating func send(_ bytes: [UInt8]) -> UInt64 {
    var (lost, position) = (UInt64(0), 0)
    while position + Self.prefix <= bytes.count {
      let length = (0..<Self.prefix).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
      let start = position + Self.prefix
      position = min(start + length, bytes.count)
      let range = start..<position
      let isSent = bytes.withUnsafeBytes { socket?.send(UnsafeRawBufferPointer(rebasing: $0[range])) ?? false }
      if !isSent { lost += 1 }
    }
    return lost
  }

  /// Whether another attempt makes sense: after a signal, or when a full non-blocking pipe has space again within a second.
  static func waitAfterFailure(of descriptor: CInt) -> Bool {
    switch pawl_errno() {
    case EINTR: return true
    case EAGAIN:
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      return poll(&entry, 1, 1000) > 0
    default: return false
    }
  }

  /// A pipe that nobody reads is an error; to wait for its reader could take for ever.
  private static func open(_ path: String) throws(LogError) -> CInt {
    let descriptor = pawl_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NONBLOCK, 0o640)
    guard descriptor >= 0 else { throw LogError(path: path, code: pawl_errno()) }
    _ = pawl_fcntl(descriptor, F_SETFL, pawl_fcntl(descriptor, F_GETFL, 0) & ~O_NONBLOCK)
    return descriptor
  }
}
