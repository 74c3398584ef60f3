import PawlHTTP
import PawlLoop
import PawlUpload

/// The content of a request between the client and the origin.
///
/// While the request has no place at the origin, its content is buffered here: in memory while the ``BufferMemory`` allows it,
/// then in an ``Overflow`` of at most `max-request-buffer`. So a slow client holds no place that other requests wait for.
final class RequestIntake {
  enum Supply {
    case bytes([UInt8], Range<Int>)
    /// More bytes are being read.
    case later
    /// There are no bytes.
    case nothing
    case failed
  }

  /// The most bytes buffered in memory.
  static let memoryLimit = 256 << 10
  /// The number of bytes in memory that do not count against the client's share: on a connection of HTTP/1.1, and on a stream of
  /// HTTP/2.
  static let free = (connection: 16 << 10, stream: 4 << 10)
  /// The number of bytes that have to come within ``proofTime`` to count as fast: 4 MiB/s. A request with fast content is
  /// sent at once.
  static let proof = 128 << 10
  static let proofTime = Duration.milliseconds(32)
  /// How long a request waits for a place before its content may be written to a file.
  static let patience = Duration.milliseconds(100)
  /// The longest silence of a client while its request is held back. Then the request is sent, since the client may wait for a
  /// response.
  static let silence = Duration.seconds(3)

  private let request: IncomingRequest
  private var queue = ChunkQueue()
  private var memory = TransferMemory()
  private var overflow: Overflow?
  /// Whether the content may be written to a file.
  var spills: Bool {
    didSet { if spills, memory.isDenied, overflow == nil, canSpill, !hasNoFile { overrun() } }
  }
  private var hasNoFile = false
  /// Whether any part of the content has come fast (``proof``).
  private(set) var isFast = false
  private var counted = 0
  private var since: Monotonic
  // Safe: only the holder retains this object for longer than a call. So the holder is alive whenever it is used here.
  unowned(unsafe) var holder: ForwardExchange?

  init(for request: IncomingRequest, spills: Bool) {
    (self.request, self.spills, since) = (request, spills, request.loop.loop.now)
  }

  /// Whether there is no content here.
  var isEmpty: Bool { queue.isEmpty && overflow == nil }

  deinit { memory.giveBack(on: request.loop) }

  /// Whether no more content can be buffered.
  var isAtLimit: Bool { overflow?.isAtLimit ?? (isFull && (hasNoFile || !canSpill)) }

  /// Whether the client may send more content.
  var takesMore: Bool { overflow?.takesMore ?? (!isFull || spills && canSpill && !hasNoFile) }

  /// Whether no more content can be buffered in memory.
  private var isFull: Bool { queue.count >= Self.memoryLimit || memory.isDenied }

  private var canSpill: Bool { request.route.maxRequestBuffer > 0 && request.route.bufferSpace != nil }

  /// Takes all the bytes, which the caller has passed to ``measure(_:)`` before. `false`: the caller has to wait before it passes
  /// more bytes.
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

  /// Makes space, in memory or in a file, for the bytes beyond ``free``.
  private func makeRoom(_ counted: Int, beyondLimit: Bool) {
    if beyondLimit, spills, canSpill, !hasNoFile { overrun() }
    guard overflow == nil, !memory.hold(counted, for: request) else { return }
    // A request with fast content gets no file until it has waited for its place for ``patience``.
    if spills, canSpill, !hasNoFile { overrun() }
    if overflow == nil { memory.holdsMore(on: request.loop) }
  }

  /// Counts bytes that have come, to find out whether the content is fast.
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
    // These bytes are in memory beyond the limits, because no file was allowed before. Move them to the file.
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

  /// Whether a request waits until its content is here. Decided from the head alone.
  ///
  /// A request is sent at once if the origin may use its content before all of it has come: if it has no Content-Length, has
  /// `Expect: 100-continue`, `Incremental: ?1` or `Content-Range`, is gRPC or an upgrade, or belongs to a protocol for resumable
  /// uploads.
  static func waits(_ head: RequestHead) -> Bool {
    guard case .length(let count) = head.framing, count > 0 else { return false }
    return SpooledForwardExchange.takes(head) && !head.fields.mayContain(anyOf: streamed)
  }

  private static let streamed = FieldNameSet([
    .expect, .tusResumable, .uploadOffset, .uploadComplete, .uploadIncomplete, .uploadDraftInteropVersion,
    .contentRange,
  ])
}
