import PawlHTTP
import PawlLoop

/// The exchange that fills a ``ResponseBuffer`` and keeps it alive.
protocol ResponseBufferSource: AnyObject {
  /// Called after a `pause`, when the origin may send more.
  func bufferTakesMore()
  /// Called when the buffer has bytes for the reader again.
  func bufferIsReady()
}

/// A buffer between the origin and the client for the content of a response that is not stored.
///
/// A client that keeps up is served from memory; at ``highWater`` bytes, the origin waits for the client. If the client is slow,
/// or the ``BufferMemory`` is used up, the response is read at the origin's speed into an ``Overflow``, so that the place at the
/// upstream is soon free. The overflow takes up to ``calmLimit`` bytes, or up to `max-response-buffer` while the upstream's
/// places are scarce. Beyond this limit, the origin waits for the client.
final class ResponseBuffer {
  /// The number of bytes in memory at which the origin has to wait. At ``lowWater``, it may go on.
  static let highWater = 256 << 10
  static let lowWater = 64 << 10
  /// The number of bytes in memory that do not count against the client's share: on a connection of HTTP/1.1, and on a stream of
  /// HTTP/2.
  static let free = (connection: 32 << 10, stream: 4 << 10)
  /// The most bytes that a slow reader is given at a time.
  private static let slowPiece = 16 << 10
  /// A reader counts as slow if, after this time, more than ``lowWater`` bytes still wait for it in memory.
  static let patience = Duration.milliseconds(100)

  /// The most bytes in the file while the upstream's places are not scarce.
  static let calmLimit: UInt64 = 16 << 20

  private let request: IncomingRequest
  private var queue = ChunkQueue()
  private var memory = TransferMemory()
  /// The number of bytes that the reader took last, and may still hold.
  private var handedOut = 0
  private var overflow: Overflow?
  /// Whether the origin waits for the reader.
  private(set) var isPaused = false
  private var pausedAt = Monotonic(nanoseconds: 0)
  private var timer: LoopTimer?
  // Safe: only the holder retains this buffer for longer than a call. So the holder is alive whenever it is used here.
  unowned(unsafe) var holder: (any ResponseBufferSource)?

  init(for request: IncomingRequest) { self.request = request }

  deinit { memory.giveBack(on: request.loop) }

  /// The number of bytes in memory that can be read at once.
  var count: Int { queue.count }
  /// Whether there is a file, which may hold bytes for the reader.
  var hasOverflow: Bool { overflow != nil }

  /// Takes all the bytes. `pause`: the caller has to wait for ``ResponseBufferSource/bufferTakesMore()`` before it passes more
  /// bytes.
  func append(_ bytes: UnsafeRawBufferPointer) -> Flow {
    if let overflow {
      let takesMore = overflow.append(bytes)
      let isInPace = request.loop.spillPace.take(bytes.count, at: request.loop.loop.now)
      if takesMore, mayGrow, isInPace { return .goOn }
      isPaused = true
      // Look again later: if requests wait for a place at the upstream by then, the file may grow beyond ``calmLimit``.
      if takesMore { timer?.schedule(after: mayGrow ? SpillPace.stretch : Self.patience) }
      return .pause
    }
    let held = queue.append(bytes)
    let counted = held + handedOut - free
    if counted > 0, !memory.hold(counted, for: request) { return spillAtOnce() }
    guard held >= Self.highWater else { return .goOn }
    if !isPaused { paused() }
    return .pause
  }

  private var free: Int { request.head.version == .http2 ? Self.free.stream : Self.free.connection }

  /// Moves the bytes to a file at once, because the limits of memory do not allow more.
  private func spillAtOnce() -> Flow {
    if !isPaused { paused() }
    if canSpill { spill() }
    if overflow == nil { memory.holdsMore(on: request.loop) }
    guard overflow?.takesMore == true, mayGrow else { return .pause }
    isPaused = false
    return .goOn
  }

  private var canSpill: Bool { request.route.maxResponseBuffer > 0 && request.route.bufferSpace != nil }

  /// Moves all bytes into a file. From then on, the rest of the response goes through this file.
  private func spill() {
    overflow = Overflow(for: request, limit: request.route.maxResponseBuffer)
    guard let overflow else { return }
    overflow.changed = { [weak self] in self?.overflowChanged() }
    while let (bytes, range) = queue.next(limit: .max) {
      _ = bytes.withUnsafeBytes { overflow.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
    memory.giveBack(on: request.loop)
    // The reader still holds the bytes that it took last, so they still count.
    _ = memory.hold(handedOut - free, for: request)
  }

  private func paused() {
    (isPaused, pausedAt) = (true, request.loop.loop.now)
    guard canSpill else { return }
    let timer = timer ?? request.loop.loop.makeTimer { [weak self] in self?.lookAtReader() }
    self.timer = timer
    if !timer.isScheduled { timer.schedule(after: Self.patience) }
  }

  /// Whether more bytes may go to the file before the reader takes some.
  private var mayGrow: Bool {
    guard let overflow, overflow.count >= Self.calmLimit else { return true }
    return request.route.upstream.isCrowded
  }

  private func lookAtReader() {
    guard isPaused else { return }
    if let overflow {
      guard overflow.takesMore else { return }
      return mayGrow ? goOn() : timer?.schedule(after: Self.patience) ?? ()
    }
    guard queue.count > Self.lowWater else { return }
    let waited = request.loop.loop.now - pausedAt
    guard waited >= Self.patience else { return timer?.schedule(after: Self.patience - waited) ?? () }
    spill()
    if overflow?.takesMore == true { goOn() }
  }

  private func goOn() {
    guard isPaused else { return }
    isPaused = false
    holder?.bufferTakesMore()
  }

  private func overflowChanged() {
    if overflow?.takesMore == true, mayGrow { goOn() }
    holder?.bufferIsReady()
  }

  /// Returns the next bytes, `later` or `failed`; `nil`: the buffer is empty.
  func next(limit: Int) -> BodyPiece? {
    handedOut = 0
    if queue.isEmpty, !memory.isEmpty { memory.giveBack(on: request.loop) }
    if let (bytes, range) = queue.next(limit: limit) {
      handedOut = range.count
      if overflow == nil, queue.count <= Self.lowWater { goOn() }
      return .memory(bytes, range)
    }
    guard let overflow else { return nil }
    switch overflow.next(limit: min(limit, Self.slowPiece)) {
    case .bytes(let bytes):
      if overflow.isEmpty { caughtUp() }
      return .memory(bytes, 0..<bytes.count)
    case .later: return .later
    case .failed: return .failed(BodyEnd(party: .pawl, reason: "buffer-unreadable"))
    case .nothing:
      caughtUp()
      return nil
    }
  }

  /// Drops the file, because the reader has got all bytes of the file, and may keep up with the origin from now on.
  private func caughtUp() {
    overflow = nil
    goOn()
  }

  func removeAll() {
    queue.removeAll()
    memory.giveBack(on: request.loop)
    overflow = nil
    timer?.close()
    timer = nil
  }
}
