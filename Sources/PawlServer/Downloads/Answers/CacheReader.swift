import PawlCacheStore
import PawlHTTP
import PawlLoop

/// A client's way through a stored body. It sends bytes that are held, waits for bytes that are on their way, and has missing bytes
/// fetched. Every reader has its own speed and its own ranges.
final class CacheReader: BodySource {
  /// A piece of what is sent: bytes that pawl made (heads of multipart parts), or bytes of the body.
  enum Segment {
    case own([UInt8])
    /// A range of the body. `nil` end: to the end of the body, which may not be known yet.
    case body(UInt64, through: UInt64?)
  }

  /// Whether the reader has already waited one turn of the loop, in which a small body may come completely.
  private var hasWaitedForTurn = false

  private static let lookAgain = Duration.milliseconds(500)

  private let request: IncomingRequest
  private let response: StoredResponse
  private let store: CacheStore
  private unowned let downloads: LoopDownloads
  private let coordinator: FillCoordinator
  private var segments: ArraySlice<Segment>
  private let joined: Int
  /// The end of the bytes that were already held when the reader came. Bytes before it count as sent from the cache.
  private var heldBefore: UInt64 = 0
  private var isFinished = false
  private var patience: LoopTimer?
  /// Why the reader cannot go on: the file is unreadable for now, or the body is restricted to another request. `nil`: the reader can go
  /// on.
  private var unreadable: String?
  /// The offset that was just read back and verified. The bytes there are sent without another check of the file. Otherwise a file that
  /// changes all the time would delay the client for ever.
  private var justChecked: UInt64?
  /// The offset of the last file run that was given back (``takeBack(_:)``), and the number of times in a row that this happened at the
  /// same offset.
  private var returned = (at: UInt64.max, count: 0)
  private var watch: FileWatch
  /// A summary of the bytes that were sent from the memory window (the part of a streamed body that is in memory now). They are not on
  /// disk, so they can be compared only with this summary.
  private var given: DeliveredMemory?
  /// Fetches the rest for this reader alone, after the memory window has moved past the reader's position.
  private var rest: OvertakenReaderFetch?
  weak var consumer: (any BodyConsumer)?

  private var body: StoredBody { response.body }
  private let seat: ReaderSeat
  private var token: ObjectIdentifier { ObjectIdentifier(seat) }

  init(
    _ segments: [Segment], of response: StoredResponse, for request: IncomingRequest, in store: CacheStore,
    on downloads: LoopDownloads
  ) {
    (self.segments, self.response, self.request, self.store) = (segments[...], response, request, store)
    self.downloads = downloads
    let start = Self.firstPosition(segments)
    heldBefore = response.body.held.contiguousEnd(from: start)
    watch = FileWatch(response.body, from: start)
    let seat = ReaderSeat()
    self.seat = seat
    (coordinator, joined) = FillCoordinator.join(
      ObjectIdentifier(seat), response, for: ObjectIdentifier(request))
    if !coordinator.admits(ObjectIdentifier(seat)) { unreadable = "narrower" }
    response.body.readerMoved(token: ObjectIdentifier(seat), position: start)
  }

  deinit { finish() }

  private static func firstPosition(_ segments: [Segment]) -> UInt64 {
    for segment in segments { if case .body(let start, _) = segment { return start } }
    return 0
  }

  func next(limit: Int) -> BodyPiece {
    if let rest { return rest.next(limit: limit) }
    while let segment = segments.first {
      switch segment {
      case .own(let bytes):
        segments.removeFirst()
        return .memory(bytes, 0..<bytes.count)
      case .body(let start, let end):
        if let end, start >= end {
          segments.removeFirst()
          continue
        }
        return piece(at: start, through: end, limit: limit)
      }
    }
    return .end
  }

  private func piece(at start: UInt64, through end: UInt64?, limit: Int) -> BodyPiece {
    if let unreadable { return .failed(BodyEnd(party: .pawl, reason: unreadable)) }
    switch body.availability(at: start) {
    case .bytes(let until):
      let stop = min(until, end ?? .max, start + UInt64(limit))
      return send(start, stop, through: end)
    case .checking:
      check(start)
      return .later
    case .ended: return end == nil ? endOfBody() : .failed(BodyEnd(party: .pawl, reason: "range-beyond-end"))
    case .failed(.notKept) where body.failure == nil && goesOnAlone(from: start, through: end): return .later
    case .failed(let failure): return .failed(BodyEnd(failure))
    case .missing: return missing(at: start, through: end)
    }
  }

  /// Goes on with a request of its own, because the memory window has moved past this reader's position. The bytes that the reader lacks
  /// are no longer in memory, so they are fetched again for this reader alone.
  /// - Returns: `false` if there is no way to prove that fetched bytes are the missing ones, or if the answer has several ranges.
  private func goesOnAlone(from start: UInt64, through end: UInt64?) -> Bool {
    guard segments.count == 1 else { return false }
    rest = OvertakenReaderFetch(
      response, from: start, through: end, given: given, identity: coordinator.identity,
      refusesRanges: coordinator.refusesRanges, for: request
    ) { [weak self] in self?.consumer?.bodyIsReady() }
    guard rest != nil else { return false }
    given = nil
    // The reader stays registered with the coordinator, so the body is kept for the comparison. But no fill waits for this reader any more.
    body.readerLeft(token: token)
    coordinator.moved(token)
    return true
  }

  private func check(_ start: UInt64) {
    body.check(at: start, on: request.loop.loop) { [weak self] outcome in
      if case .unavailable(let why) = outcome { self?.unreadable = why }
      self?.justChecked = start
      self?.consumer?.bodyIsReady()
    }
  }

  /// The offset in the body where the reader goes on; `nil` if bytes that pawl made come first, or nothing is left.
  var start: UInt64? { if case .body(let start, _)? = segments.first { start } else { nil } }

  /// The result of ``prepare()``.
  enum Preparation { case ready, later, failed(BodyEnd) }

  /// Makes sure that the first bytes are held and verified before they are sent; missing bytes are fetched. After `.later`, call again when
  /// ``BodyConsumer/bodyIsReady()`` is called.
  func prepare() -> Preparation {
    guard case .body(let start, let end)? = segments.first else { return .ready }
    if let unreadable { return .failed(BodyEnd(party: .pawl, reason: unreadable)) }
    switch body.availability(at: start) {
    case .bytes, .ended: return .ready
    case .checking: check(start)
    case .failed(let failure): return .failed(BodyEnd(failure))
    case .missing: if case .failed(let end) = missing(at: start, through: end) { return .failed(end) }
    }
    return .later
  }

  private func send(_ start: UInt64, _ stop: UInt64, through end: UInt64?) -> BodyPiece {
    if let memory = body.inMemory {
      advance(from: start, to: stop, through: end)
      return .memory(memory, Int(start)..<Int(stop))
    }
    if body.isStreaming, let bytes = body.windowBytes(at: start, limit: Int(stop - start)) {
      advance(from: start, to: start + UInt64(bytes.count), through: end)
      if given == nil { given = DeliveredMemory(from: start) }
      bytes.withUnsafeBytes { given?.note($0) }
      return .memory(bytes, 0..<bytes.count)
    }
    let wasChecked = justChecked == start
    justChecked = nil
    guard wasChecked || body.isUntouched(now: request.loop.loop.now) else { return next(limit: Int(stop - start)) }
    // The loop does not wait for the disk: what is not in the page cache is read in the pool first.
    guard body.isInPageCache(start..<stop, now: request.loop.loop.now) else {
      body.warm(start..<stop, on: request.loop.loop) { [weak self] in self?.consumer?.bodyIsReady() }
      return .later
    }
    let slice = body.slice(start..<stop)
    guard slice.fd >= 0 else { return .failed(BodyEnd(party: .pawl, reason: "stored-file-unreadable")) }
    advance(from: start, to: stop, through: end)
    watch.gave()
    return .file(FileRun(slice))
  }

  func look(at run: FileRun, isCopied: Bool) -> FileLook {
    watch.look(at: run.position, isCopied: isCopied, now: request.loop.loop.now)
  }

  /// Takes back a run that was not sent completely, so that its bytes are verified and sent again. Refuses a run after it came back three
  /// times in a row at the same offset.
  func takeBack(_ run: FileRun) -> Bool {
    guard !isFinished, returned.at != run.position || returned.count < 3 else { return false }
    returned = (run.position, returned.at == run.position ? returned.count + 1 : 1)
    let left = run.position..<run.position + UInt64(run.count)
    distrust(left)
    segments.insert(.body(left.lowerBound, through: left.upperBound), at: segments.startIndex)
    body.readerMoved(token: token, position: left.lowerBound)
    coordinator.moved(token)
    return true
  }

  /// Marks bytes as unverified, because they counted as held but could not be sent. From now on, no byte after their start counts as sent
  /// from the cache.
  func distrust(_ left: Range<UInt64>) {
    body.distrust(left)
    guard left.lowerBound < heldBefore else { return }
    let count = min(left.upperBound, heldBefore) - left.lowerBound
    request.record.bytesFromCache -= min(request.record.bytesFromCache, count)
    heldBefore = left.lowerBound
  }

  private func endOfBody() -> BodyPiece {
    segments.removeFirst()
    return next(limit: 1)
  }

  private func advance(from start: UInt64, to stop: UInt64, through end: UInt64?) {
    segments[segments.startIndex] = .body(stop, through: end)
    if start < heldBefore { request.record.bytesFromCache += min(stop, heldBefore) - start }
    body.readerMoved(token: token, position: stop)
    coordinator.moved(token)
  }

  private func missing(at position: UInt64, through end: UInt64?) -> BodyPiece {
    if isSoon() { return .soon }
    let until = end ?? body.total ?? .max
    // Register for the callback first, so that bytes which arrive from here on are not missed.
    let waiting = wait(at: position)
    switch coordinator.need(
      position, through: until, held: body.known, joinedAt: joined, now: request.loop.loop.now)
    {
    case .wait: askAgainLater()
    case .fetch(let span):
      // Bytes that replace lost ones are accepted only if they match the recorded digest. So any request may fetch lost bytes again.
      guard body.lostRun(at: span.lowerBound) != nil || Fill.mayGrow(response, by: request) else {
        return .failed(BodyEnd(party: .pawl, reason: "not-for-others"))
      }
      Fill.start(span, of: response, for: request, in: store, on: downloads)
    case .replay where response.supersededAt != nil:
      return .failed(BodyEnd(party: .pawl, reason: "superseded"))
    case .replay(let span):
      Fill.start(span, of: response, for: request, in: store, on: downloads, isReplayed: true)
    case .fail(let end):
      if case .missing = body.availability(at: position) { return .failed(end) }
    }
    return waiting
  }

  /// Waits, once per reader, for the next turn of the loop if a small body is being gathered. If all of the body comes within the present
  /// turn, head and content are sent together.
  private func isSoon() -> Bool {
    guard !hasWaitedForTurn, body.isGathering else { return false }
    hasWaitedForTurn = true
    request.loop.loop.nextTurn { [self] in consumer?.bodyIsReady() }
    return true
  }

  /// Arranges to decide again while the reader waits: first when the speed of the fill can be measured, then twice a second. So a reader
  /// does not go on waiting for a slow fill.
  private func askAgainLater() {
    guard coordinator.canFetchRanges, patience?.isScheduled != true else { return }
    let delay = patience == nil ? FillCoordinator.jumpMeasure : Self.lookAgain
    let timer = patience ?? request.loop.loop.makeTimer { [weak self] in self?.consumer?.bodyIsReady() }
    patience = timer
    timer.schedule(after: delay)
  }

  private func wait(at position: UInt64) -> BodyPiece {
    body.wait(at: position, token: token, on: request.loop.loop) { [weak self] in self?.consumer?.bodyIsReady() }
    return .later
  }

  func finish() {
    guard !isFinished else { return }
    isFinished = true
    patience?.close()
    rest?.finish()
    body.readerLeft(token: token)
    coordinator.left(token)
  }
}

/// An object that stands for a reader in bodies and coordinators, which identify it by its address.
private final class ReaderSeat {}

extension BodyEnd {
  init(_ failure: BodyFailure) {
    switch failure {
    case .origin(let why): self.init(party: .origin, reason: why)
    case .changed(let why): self.init(party: .origin, reason: "changed: \(why)")
    case .notKept: self.init(party: .pawl, reason: "not-kept")
    case .disk(let why): self.init(party: .pawl, reason: "disk: \(why)")
    case .removed: self.init(party: .pawl, reason: "removed")
    }
  }
}
