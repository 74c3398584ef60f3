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
/// him. For one who does not, it is read at the origin's pace into an ``Overflow``, up to ``calmLimit``, and while the upstream's places
/// run short up to `max-response-buffer`, so that its place is free; beyond that the reader's pace counts again.
final class AnswerBuffer {
  /// Octets in memory at which the origin waits, and at which it goes on.
  static let highWater = 256 << 10
  static let lowWater = 64 << 10
  /// Whoever has not made room after this time is slow.
  static let patience = Duration.milliseconds(100)

  /// Octets in the file of an answer whose place nobody is in want of.
  static let calmLimit: UInt64 = 16 << 20

  private let request: IncomingRequest
  private var queue = ChunkQueue()
  private var overflow: Overflow?
  /// Whether the origin waits for the reader.
  private(set) var isPaused = false
  private var pausedAt = Monotonic(nanoseconds: 0)
  private var timer: LoopTimer?
  // Safe: it holds this, and nothing else does for longer than a call.
  unowned(unsafe) var holder: (any AnswerBufferHolder)?

  init(for request: IncomingRequest) { self.request = request }

  /// Octets in memory that can be had at once.
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
    guard queue.append(bytes) >= Self.highWater else { return .goOn }
    if !isPaused { paused() }
    return .pause
  }

  private func paused() {
    (isPaused, pausedAt) = (true, request.loop.loop.now)
    guard request.route.maxResponseBuffer > 0, request.route.bufferSpace != nil else { return }
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
    overflow = Overflow(for: request, limit: request.route.maxResponseBuffer)
    overflow?.changed = { [weak self] in self?.overflowChanged() }
    if overflow != nil { goOn() }
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

  /// The next octets, `later` or `failed`; `nil`: there is nothing here.
  func next(limit: Int) -> BodyPiece? {
    if let (bytes, range) = queue.next(limit: limit) {
      if overflow == nil, queue.count <= Self.lowWater { goOn() }
      return .memory(bytes, range)
    }
    guard let overflow else { return nil }
    switch overflow.next(limit: limit) {
    case .octets(let octets):
      if overflow.isEmpty { caughtUp() }
      return .memory(octets, 0..<octets.count)
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
    overflow = nil
    timer?.close()
    timer = nil
  }
}
