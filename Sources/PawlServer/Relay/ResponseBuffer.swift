import PawlHTTP
import PawlLoop

/// The exchange that fills an ``ResponseBuffer`` and holds it.
protocol ResponseBufferSource: AnyObject {
  /// Called after a `pause`, when the origin may go on.
  func bufferTakesMore()
  /// Called when the buffer has bytes for the reader again.
  func bufferIsReady()
}

/// A buffer between the origin and the client for the content of a response that is not stored.
///
/// A client that keeps up is served from memory, and the origin waits for it. For a slow client, or where the ``BufferMemory`` has
/// no room, the response is read at the origin's speed into an ``Overflow``, so that its place at the upstream is free soon: up to
/// ``calmLimit``, and while the upstream's places are scarce up to `max-response-buffer`. Beyond that, the origin waits for the
/// client.
final class ResponseBuffer {
  /// The number of bytes in memory at which the origin waits; it goes on at ``lowWater``.
  static let highWater = 256 << 10
  static let lowWater = 64 << 10
  /// Bytes in memory that are not counted for the client, for a connection of HTTP/1.1 and for a stream of HTTP/2.
  static let free = (connection: 32 << 10, stream: 4 << 10)
  /// The most bytes that a slow reader is given at a time.
  private static let slowPiece = 16 << 10
  /// A reader counts as slow when it has not made room within this time.
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
  // Safe: the holder keeps this buffer alive, and nothing else keeps it for longer than a call.
  unowned(unsafe) var holder: (any ResponseBufferSource)?

  init(for request: IncomingRequest) { self.request = request }

  deinit { memory.giveBack(on: request.loop) }

  /// The number of bytes in memory that can be read at once.
  var count: Int { queue.count }
  /// Whether more bytes may be in the file.
  var hasOverflow: Bool { overflow != nil }

  /// Takes all bytes. `pause`: the caller brings no more until ``ResponseBufferSource/bufferTakesMore()``.
  func append(_ bytes: UnsafeRawBufferPointer) -> Flow {
    if let overflow {
      let takesMore = overflow.append(bytes)
      let isInPace = request.loop.spillPace.take(bytes.count, at: request.loop.loop.now)
      if takesMore, mayGrow, isInPace { return .goOn }
      isPaused = true
      // Look again later: requests may come to wait for a place.
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

  /// Moves the bytes to a file at once, because memory has no room for them.
  private func spillAtOnce() -> Flow {
    if !isPaused { paused() }
    if canSpill { spill() }
    if overflow == nil { memory.holdsMore(on: request.loop) }
    guard overflow?.takesMore == true, mayGrow else { return .pause }
    isPaused = false
    return .goOn
  }

  private var canSpill: Bool { request.route.maxResponseBuffer > 0 && request.route.bufferSpace != nil }

  /// Moves all bytes into a file, through which the rest of the response goes, too.
  private func spill() {
    overflow = Overflow(for: request, limit: request.route.maxResponseBuffer)
    guard let overflow else { return }
    overflow.changed = { [weak self] in self?.overflowChanged() }
    while let (bytes, range) = queue.next(limit: .max) {
      _ = bytes.withUnsafeBytes { overflow.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
    memory.giveBack(on: request.loop)
    // The reader still holds the bytes that it took.
    _ = memory.hold(handedOut - free, for: request)
  }

  private func paused() {
    (isPaused, pausedAt) = (true, request.loop.loop.now)
    guard canSpill else { return }
    let timer = timer ?? request.loop.loop.makeTimer { [weak self] in self?.lookAtReader() }
    self.timer = timer
    if !timer.isScheduled { timer.schedule(after: Self.patience) }
  }

  /// Whether the file may grow, ahead of the reader.
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

  /// Drops the file: the reader has all bytes, and may keep up from now on.
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
