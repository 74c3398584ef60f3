import PawlHTTP
import PawlLoop

/// Who brings an answer, and hears what its ``AnswerBuffer`` has to say. Holds the buffer.
protocol AnswerBufferHolder: AnyObject {
  /// After a `pause`: the origin may go on.
  func bufferTakesMore()
  /// There is something for the reader again.
  func bufferIsReady()
}

/// An answer that nobody may keep, between the origin and its reader. A reader who keeps up has it from memory, and the origin waits for
/// him. For one who does not, or where the ``BufferMemory`` has no room, it is read at the origin's pace into an ``Overflow``, up to
/// ``calmLimit``, and while the upstream's places run short up to `max-response-buffer`, so that its place is free; beyond that the
/// reader's pace counts again.
final class AnswerBuffer {
  /// Bytes in memory at which the origin waits, and at which it goes on.
  static let highWater = 256 << 10
  static let lowWater = 64 << 10
  /// Bytes in memory that count for nobody: a connection's, and a stream's, of which a connection has many.
  static let free = (connection: 32 << 10, stream: 4 << 10)
  /// Bytes that a slow reader is given at a time.
  private static let slowPiece = 16 << 10
  /// Whoever has not made room after this time is slow.
  static let patience = Duration.milliseconds(100)

  /// Bytes in the file of an answer whose place nobody is in want of.
  static let calmLimit: UInt64 = 16 << 20

  private let request: IncomingRequest
  private var queue = ChunkQueue()
  private var memory = TransferMemory()
  /// Bytes that the reader took last, and may hold still.
  private var handedOut = 0
  private var overflow: Overflow?
  /// Whether the origin waits for the reader.
  private(set) var isPaused = false
  private var pausedAt = Monotonic(nanoseconds: 0)
  private var timer: LoopTimer?
  // Safe: it holds this, and nothing else does for longer than a call.
  unowned(unsafe) var holder: (any AnswerBufferHolder)?

  init(for request: IncomingRequest) { self.request = request }

  deinit { memory.giveBack(on: request.loop) }

  /// Bytes in memory that can be had at once.
  var count: Int { queue.count }
  /// Whether something may be behind those.
  var hasOverflow: Bool { overflow != nil }

  /// Takes all of it. `pause`: no more, until ``AnswerBufferHolder/bufferTakesMore()``.
  func append(_ bytes: UnsafeRawBufferPointer) -> Flow {
    if let overflow {
      let takesMore = overflow.append(bytes)
      let isInPace = request.loop.spillPace.take(bytes.count, at: request.loop.loop.now)
      if takesMore, mayGrow, isInPace { return .goOn }
      isPaused = true
      // Somebody may come to want the place.
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

  /// What it holds finds no room in memory.
  private func spillAtOnce() -> Flow {
    if !isPaused { paused() }
    if canSpill { spill() }
    if overflow == nil { memory.holdsMore(on: request.loop) }
    guard overflow?.takesMore == true, mayGrow else { return .pause }
    isPaused = false
    return .goOn
  }

  private var canSpill: Bool { request.route.maxResponseBuffer > 0 && request.route.bufferSpace != nil }

  /// From now on it goes by a file, with all that is here.
  private func spill() {
    overflow = Overflow(for: request, limit: request.route.maxResponseBuffer)
    guard let overflow else { return }
    overflow.changed = { [weak self] in self?.overflowChanged() }
    while let (bytes, range) = queue.next(limit: .max) {
      _ = bytes.withUnsafeBytes { overflow.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
    memory.giveBack(on: request.loop)
    // The reader holds what it took.
    _ = memory.hold(handedOut - free, for: request)
  }

  private func paused() {
    (isPaused, pausedAt) = (true, request.loop.loop.now)
    guard canSpill else { return }
    let timer = timer ?? request.loop.loop.makeTimer { [weak self] in self?.lookAtReader() }
    self.timer = timer
    if !timer.isScheduled { timer.schedule(after: Self.patience) }
  }

  /// Whether more of it is read than the reader takes.
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

  /// The next bytes, `later` or `failed`; `nil`: there is nothing here.
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

  /// The reader has all there is: he may be quick from now on.
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
