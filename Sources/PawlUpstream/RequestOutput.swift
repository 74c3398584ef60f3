import PawlHTTP
import PawlLoop
import PawlWire

/// What of a request is still to go to the origin: head and content in their framing.
/// Holds what the socket would not take; the exchange bounds it by telling its sender to stop.
struct RequestOutput {
  /// Above this many octets the sender is told to stop.
  static let highWater = 256 << 10
  /// At this many it is told to go on.
  static let lowWater = 64 << 10

  enum FlushResult: Hashable { case drained, blocked, failed }
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
  private var isConnected = false
  /// Whether content was handed in: the request cannot be sent again from its start.
  private(set) var hasTakenBody = false
  /// Octets handed to the present connection's socket.
  private(set) var sentOnConnection: UInt64 = 0
  /// Nothing more goes out: the origin has answered already, or is gone.
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

  var pendingCount: Int { pending.count - start }
  /// Whether the whole request is with the socket.
  var isSent: Bool { isConnected && content == .complete && pendingCount == 0 && !isStopped }
  /// Whether the sender may still hand in content.
  var takesBody: Bool { content != .complete && !isStopped }

  /// A connection is there: the head goes first, what was handed in before follows it.
  mutating func connect(_ head: RequestHead) {
    var octets: [UInt8] = []
    HeadWriter.write(head, into: &octets)
    (isConnected, sentOnConnection, isStopped) = (true, 0, false)
    if pendingCount == 0 {
      (pending, start) = (octets, 0)
    } else {
      pending.insert(contentsOf: octets, at: start)
    }
  }

  /// The connection is lost and another one will be tried: only while no content was taken.
  mutating func disconnect() {
    precondition(!hasTakenBody, "content that was taken cannot be sent again")
    (pending, start, isConnected, isStopped) = ([], 0, false, false)
    content = Self.content(of: framing)
  }

  mutating func stop() { (pending, start, isStopped) = ([], 0, true) }

  /// Takes content; writes what the socket accepts. `nil` stream: not connected yet.
  mutating func append(_ bytes: UnsafeRawBufferPointer, to stream: SocketStream?) throws(Misuse) -> FlushResult {
    guard !isStopped, !bytes.isEmpty else { return .drained }
    switch content {
    case .complete: throw .tooMuch
    case .length(let remaining):
      guard UInt64(bytes.count) <= remaining else { throw .tooMuch }
      let left = remaining - UInt64(bytes.count)
      content = left == 0 ? .complete : .length(remaining: left)
      hasTakenBody = true
      guard let stream, pendingCount == 0 else {
        pending.append(contentsOf: bytes)
        return flush(stream)
      }
      return writeThrough(bytes, to: stream)
    case .chunked:
      hasTakenBody = true
      ChunkedWriter.appendHeader(bytes.count, into: &pending)
      pending.append(contentsOf: bytes)
      pending.append(contentsOf: ChunkedWriter.lineEnd)
      return flush(stream)
    }
  }

  mutating func finish(_ trailers: Fields, to stream: SocketStream?) throws(Misuse) -> FlushResult {
    guard !isStopped else { return .drained }
    switch content {
    case .complete: return flush(stream)
    case .length: throw .tooLittle
    case .chunked:
      hasTakenBody = true
      content = .complete
      ChunkedWriter.appendLast(trailers: trailers, into: &pending)
      return flush(stream)
    }
  }

  /// Writes what is held back.
  mutating func flush(_ stream: SocketStream?) -> FlushResult {
    guard let stream, isConnected else { return pendingCount == 0 ? .drained : .blocked }
    while pendingCount > 0 {
      let result = pending.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[start...]), more: false) }
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

  /// Straight from the sender's memory; only the rest is copied.
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
