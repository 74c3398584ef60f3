import PawlHTTP
import PawlLoop
import PawlUpload

/// A request's content between the client and the origin. While the request has no place there it is gathered here: in memory, as far as
/// the ``BufferMemory`` has room, then in an ``Overflow`` of at most `max-request-buffer`. So a client that takes its time holds nothing that others want.
final class RequestIntake {
  enum Supply {
    case bytes([UInt8], Range<Int>)
    /// More is being read.
    case later
    /// There is nothing here.
    case nothing
    case failed
  }

  /// Bytes that are gathered in memory.
  static let memoryLimit = 256 << 10
  /// Bytes of them that count for nobody: a connection's, and a stream's, of which a connection has many.
  static let free = (connection: 16 << 10, stream: 4 << 10)
  /// Content that comes at 4 MiB/s and faster is not waited for: so many bytes within so much time show it.
  static let proof = 128 << 10
  static let proofTime = Duration.milliseconds(32)
  /// So long a request may wait for a place before its content is written to a file meanwhile.
  static let patience = Duration.milliseconds(100)
  /// A client that sends nothing for so long is taken to wait for an answer.
  static let silence = Duration.seconds(3)

  private let request: IncomingRequest
  private var queue = ChunkQueue()
  private var memory = TransferMemory()
  private var overflow: Overflow?
  /// Whether it may be written to a file.
  var spills: Bool {
    didSet { if spills, memory.isDenied, overflow == nil, canSpill, !hasNoFile { overrun() } }
  }
  private var hasNoFile = false
  /// It came fast, at least once.
  private(set) var isFast = false
  private var counted = 0
  private var since: Monotonic
  // Safe: it holds this, and nothing else does for longer than a call.
  unowned(unsafe) var holder: ForwardExchange?

  init(for request: IncomingRequest, spills: Bool) {
    (self.request, self.spills, since) = (request, spills, request.loop.loop.now)
  }

  /// Whether nothing of it is here.
  var isEmpty: Bool { queue.isEmpty && overflow == nil }

  deinit { memory.giveBack(on: request.loop) }

  /// Whether no more can be gathered.
  var isAtLimit: Bool { overflow?.isAtLimit ?? (isFull && (hasNoFile || !canSpill)) }

  /// Whether the client may send more.
  var takesMore: Bool { overflow?.takesMore ?? (!isFull || spills && canSpill && !hasNoFile) }

  /// Whether memory has no room for more of it.
  private var isFull: Bool { queue.count >= Self.memoryLimit || memory.isDenied }

  private var canSpill: Bool { request.route.maxRequestBuffer > 0 && request.route.bufferSpace != nil }

  /// Takes all of what ``measure(_:)`` was told of. `false`: no more for now.
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = queue.count + bytes.count
    let isStream = request.head.version == .http2
    let counted = count - (isStream ? Self.free.stream : Self.free.connection)
    if overflow == nil, counted > 0 { makeRoom(counted, beyondLimit: count > Self.memoryLimit) }
    guard let overflow else {
      queue.append(bytes)
      return takesMore
    }
    return overflow.append(bytes)
  }

  /// For so many bytes that count, in memory or in a file.
  private func makeRoom(_ counted: Int, beyondLimit: Bool) {
    if beyondLimit, spills, canSpill, !hasNoFile { overrun() }
    guard overflow == nil, !memory.hold(counted, for: request) else { return }
    // One whose content comes fast has no file until it has waited for its place.
    if spills, canSpill, !hasNoFile { overrun() }
    if overflow == nil { memory.holdsMore(on: request.loop) }
  }

  /// So many bytes have come.
  func measure(_ count: Int) {
    guard !isFast else { return }
    counted += count
    guard counted >= Self.proof else { return }
    let now = request.loop.loop.now
    isFast = (now - since) * Double(Self.proof) <= Self.proofTime * Double(counted)
    (counted, since) = (0, now)
  }

  private func overrun() {
    overflow = Overflow(for: request, limit: request.route.maxRequestBuffer)
    overflow?.changed = { [weak self] in self?.holder?.intakeChanged() }
    hasNoFile = overflow == nil
    guard let overflow, memory.isDenied else { return }
    // It is here for want of a file.
    while let (bytes, range) = queue.next(limit: .max) {
      _ = bytes.withUnsafeBytes { overflow.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
    memory.giveBack(on: request.loop)
  }

  func next() -> Supply {
    if let (bytes, range) = queue.next(limit: .max) {
      if queue.isEmpty, !memory.isEmpty { memory.giveBack(on: request.loop) }
      return .bytes(bytes, range)
    }
    guard let overflow else { return .nothing }
    switch overflow.next(limit: .max) {
    case .bytes(let bytes):
      if overflow.isEmpty { self.overflow = nil }
      return .bytes(bytes, 0..<bytes.count)
    case .later: return .later
    case .failed: return .failed
    case .nothing:
      self.overflow = nil
      return .nothing
    }
  }

  func removeAll() {
    queue.removeAll()
    memory.giveBack(on: request.loop)
    overflow = nil
  }

  /// Whether the origin is to hear of the request only when its content is here, as far as its head tells. Not so what the origin
  /// may answer, or keep, while it comes: what has no announced length, waits for `100 (Continue)`, says that it is incremental, is
  /// gRPC, or belongs to a protocol by which an upload is gone on with after a break.
  static func waits(_ head: RequestHead) -> Bool {
    guard case .length(let count) = head.framing, count > 0 else { return false }
    return SpooledForwardExchange.takes(head) && !head.fields.mayContain(anyOf: streamed)
  }

  private static let streamed = FieldNameSet([
    .expect, .tusResumable, .uploadOffset, .uploadComplete, .uploadIncomplete, .uploadDraftInteropVersion,
    .contentRange,
  ])
}
