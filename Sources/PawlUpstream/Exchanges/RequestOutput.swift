import PawlHTTP
import PawlLoop
import PawlWire

/// A range of a file that is content of a request. The descriptor stays open while `keeper` is retained.
struct FileContent {
  let descriptor: CInt
  let offset: UInt64
  let count: UInt64
  let keeper: AnyObject

  /// Returns what is left after `sent` bytes; `nil`: nothing.
  func advanced(by sent: UInt64) -> FileContent? {
    guard sent < count else { return nil }
    return FileContent(descriptor: descriptor, offset: offset + sent, count: count - sent, keeper: keeper)
  }
}

/// The part of a request that still has to be sent to the origin: head and content in their framing. Keeps the bytes that the
/// socket has not taken. The exchange limits their number: it makes the code that hands in content (the sender) wait.
struct RequestOutput {
  /// With this many pending bytes or more, the sender has to wait.
  static let highWater = 256 << 10
  /// With this many pending bytes or fewer, the sender goes on.
  static let lowWater = 64 << 10

  /// The most bytes of a file that are sent in one turn of the loop if no other connection is ready. If others are ready, only a
  /// part of this number is sent.
  static let turn = 4 << 20

  enum FlushResult: Hashable {
    case drained, blocked, failed
    /// The file could not be read, or is too short. The connection itself works.
    case unreadable(String)
  }
  enum Misuse: Error, Hashable { case tooMuch, tooLittle }

  private enum Content: Hashable {
    case length(remaining: UInt64)
    case chunked
    case complete
  }

  private let framing: BodyFraming
  private var content: Content
  private var pending: [UInt8] = []
  private var start = 0
  /// The file that is sent after the pending bytes.
  private var file: FileContent?
  /// The bytes to send after the file.
  private var behind: [UInt8] = []
  private var isConnected = false
  /// Bytes that the stream has taken and the kernel has not. They are TLS records.
  private(set) var keptByStream = 0
  /// Whether content was handed in. If so, the request cannot be sent again from its start.
  private(set) var hasTakenBody = false
  /// Bytes handed to the present connection's socket.
  private(set) var sentOnConnection: UInt64 = 0
  /// Whether nothing more is sent, because the origin has already responded or has closed the connection.
  private(set) var isStopped = false

  init(_ framing: BodyFraming) {
    self.framing = framing
    content = Self.content(of: framing)
  }

  private static func content(of framing: BodyFraming) -> Content {
    switch framing {
    case .none, .untilClose, .length(0): .complete
    case .length(let count): .length(remaining: count)
    case .chunked: .chunked
    }
  }

  /// Bytes in memory that the socket has not taken.
  var pendingCount: Int { pending.count - start + behind.count }
  var hasFile: Bool { file != nil }
  /// Whether the kernel has everything that was handed in, so that it is sent even if pawl ends. Bytes that still wait in pawl as
  /// TLS records do not count as taken by the kernel.
  var isFlushed: Bool { isConnected && !hasUnsent && !isStopped }
  /// Whether the kernel lacks some of what was handed in.
  var hasUnsent: Bool { pendingCount > 0 || file != nil || keptByStream > 0 }
  /// Whether the kernel has the complete request.
  var isSent: Bool { isFlushed && content == .complete }
  /// Whether the sender may still hand in content.
  var takesBody: Bool { content != .complete && !isStopped }

  /// Begins to send on a new connection: first the head, then what was handed in before.
  mutating func connect(_ head: RequestHead) {
    var bytes: [UInt8] = []
    HeadWriter.write(head, into: &bytes)
    (isConnected, sentOnConnection, isStopped) = (true, 0, false)
    if pending.count == start {
      (pending, start) = (bytes, 0)
    } else {
      pending.insert(contentsOf: bytes, at: start)
    }
  }

  /// Resets the output, because the connection is lost and another one will be tried. Call this only while no content was taken.
  mutating func disconnect() {
    precondition(!hasTakenBody, "content that was taken cannot be sent again")
    (pending, start, file, behind, isConnected, isStopped) = ([], 0, nil, [], false, false)
    keptByStream = 0
    content = Self.content(of: framing)
  }

  mutating func stop() { (pending, start, file, behind, isStopped) = ([], 0, nil, [], true) }

  /// Takes content; writes what the socket accepts. `stream` is `nil` if there is no connection yet.
  mutating func append(_ bytes: UnsafeRawBufferPointer, to stream: SocketStream?) throws(Misuse) -> FlushResult {
    guard !isStopped, !bytes.isEmpty else { return .drained }
    switch content {
    case .complete: throw .tooMuch
    case .length(let remaining):
      try take(UInt64(bytes.count), of: remaining)
      guard let stream, pendingCount == 0, file == nil else {
        withTail { $0.append(contentsOf: bytes) }
        return flush(stream)
      }
      return noteFlushed(writeThrough(bytes, to: stream), stream)
    case .chunked:
      hasTakenBody = true
      withTail {
        ChunkedWriter.appendHeader(bytes.count, into: &$0)
        $0.append(contentsOf: bytes)
        $0.append(contentsOf: ChunkedWriter.lineEnd)
      }
      return flush(stream)
    }
  }

  /// Takes content of a file, which is sent without being read into memory. One file at a time.
  mutating func append(_ run: FileContent, to stream: SocketStream?) throws(Misuse) -> FlushResult {
    guard !isStopped, run.count > 0 else { return .drained }
    guard file == nil else { throw .tooMuch }
    switch content {
    case .complete: throw .tooMuch
    case .length(let remaining): try take(run.count, of: remaining)
    case .chunked:
      guard let count = Int(exactly: run.count) else { throw .tooMuch }
      hasTakenBody = true
      ChunkedWriter.appendHeader(count, into: &pending)
      behind.append(contentsOf: ChunkedWriter.lineEnd)
    }
    file = run
    return flush(stream)
  }

  private mutating func take(_ count: UInt64, of remaining: UInt64) throws(Misuse) {
    guard count <= remaining else { throw .tooMuch }
    content = count == remaining ? .complete : .length(remaining: remaining - count)
    hasTakenBody = true
  }

  /// Calls `change` with the buffer for the next bytes in memory: `behind` if a file has to be sent first, otherwise `pending`.
  private mutating func withTail(_ change: (inout [UInt8]) -> Void) {
    if file == nil { change(&pending) } else { change(&behind) }
  }

  mutating func finish(_ trailers: Fields, to stream: SocketStream?) throws(Misuse) -> FlushResult {
    guard !isStopped else { return .drained }
    switch content {
    case .complete: return flush(stream)
    case .length: throw .tooLittle
    case .chunked:
      hasTakenBody = true
      content = .complete
      withTail { ChunkedWriter.appendLast(trailers: trailers, into: &$0) }
      return flush(stream)
    }
  }

  /// Writes what the socket has not taken yet.
  mutating func flush(_ stream: SocketStream?) -> FlushResult {
    guard let stream, isConnected else { return pendingCount == 0 && file == nil ? .drained : .blocked }
    return noteFlushed(flushAll(stream), stream)
  }

  private mutating func flushAll(_ stream: SocketStream) -> FlushResult {
    let before = flushMemory(stream)
    guard before == .drained, file != nil else { return before }
    let result = flushFile(stream)
    guard result == .drained else { return result }
    swap(&pending, &behind)
    return flushMemory(stream)
  }

  /// Turns `.drained` into `.blocked` while the stream still holds TLS records that the kernel has not taken; updates
  /// ``keptByStream``.
  private mutating func noteFlushed(_ result: FlushResult, _ stream: SocketStream) -> FlushResult {
    keptByStream = isStopped ? 0 : stream.bytesKept
    return result == .drained && keptByStream > 0 ? .blocked : result
  }

  private mutating func flushMemory(_ stream: SocketStream) -> FlushResult {
    while pending.count > start {
      let result = pending.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[start...]), more: file != nil)
      }
      switch result {
      case .bytes(let count):
        start += count
        sentOnConnection += UInt64(count)
      case .wouldBlock:
        compact()
        return .blocked
      case .end, .failed:
        stop()
        return .failed
      }
    }
    pending.removeAll(keepingCapacity: pending.capacity <= Self.highWater * 2)
    start = 0
    return .drained
  }

  private mutating func flushFile(_ stream: SocketStream) -> FlushResult {
    var budget = stream.loop.turnShare(of: Self.turn)
    while let run = file {
      guard budget > 0 else { return .blocked }
      let limit = Int(min(run.count, UInt64(budget)))
      switch stream.sendFile(run.descriptor, offset: run.offset, count: limit) {
      case .bytes(let count):
        budget -= count
        sentOnConnection += UInt64(count)
        file = run.advanced(by: UInt64(count))
      case .wouldBlock: return .blocked
      case .end:
        stop()
        return .unreadable("the file ends \(run.count) bytes early")
      case .failed(let code):
        stop()
        return SocketStream.isOfFile(code) ? .unreadable(errorText(code)) : .failed
      }
    }
    return .drained
  }

  /// Writes directly from the sender's memory; only what the socket does not take is copied.
  private mutating func writeThrough(_ bytes: UnsafeRawBufferPointer, to stream: SocketStream) -> FlushResult {
    switch stream.write(bytes, more: false) {
    case .bytes(let count):
      sentOnConnection += UInt64(count)
      guard count < bytes.count else { return .drained }
      pending.append(contentsOf: bytes[count...])
      return flush(stream)
    case .wouldBlock:
      pending.append(contentsOf: bytes)
      return .blocked
    case .end, .failed:
      stop()
      return .failed
    }
  }

  private mutating func compact() {
    guard start > 64 << 10, start * 2 > pending.count else { return }
    pending.removeFirst(start)
    start = 0
  }
}
