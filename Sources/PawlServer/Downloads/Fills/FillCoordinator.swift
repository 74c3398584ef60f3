import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Coordinates the readers of one stored body and the fills that bring its spans from the origin. Shared by all loops; it has one lock,
/// which is held only while something is decided. A fill belongs to no reader. It is started because a reader lacks bytes, and may outlive
/// that reader by the rules of `decideAbandoned`.
final class FillCoordinator: Sendable {
  struct Span {
    var fill: ObjectIdentifier
    var loop: LoopWeak<Fill>
    var start: UInt64
    /// The exclusive end; `nil` until the total is known.
    var end: UInt64?
    /// The end of the span before another span overtook it.
    let wanted: UInt64?
    var began: Monotonic
    /// Whether the span fetches lost bytes again, which other spans skip.
    var mends = false

    var course: Course { Course(start: start, began: began) }
  }

  struct State {
    var spans: [Span] = []
    /// The readers, each with the request that it reads for.
    var readers: [ObjectIdentifier: ObjectIdentifier?] = [:]
    var refusesRanges = false
    /// The speed of the origin for this body, in bytes per second, once it is known.
    var usualRate: Double?
    /// The number of fills that failed after all their attempts. A reader that joined before the last failure ends after the last byte that
    /// it can get.
    var failures = 0
    var failure: BodyEnd?
    var comparison: TwinComparison?
    /// The request whose fetch brings the body, while it comes.
    var sharing: Sharing?
    /// The only request that may have the rest of the body, if a later response was for this request only.
    var only: ObjectIdentifier?
    /// For a coded form: its writer, and whether the writer waits for readers.
    var writer: (loop: LoopWeak<FormWriter>, isHeld: Bool)?
  }

  /// What a reader that lacks bytes does.
  enum Need {
    /// The bytes are on their way.
    case wait
    case fetch(Range<UInt64>)
    /// Fetch from byte zero on, and compare with the held bytes; only lost bytes are replaced.
    case replay(Range<UInt64>)
    case fail(BodyEnd)
  }

  static let spanLimit = 8

  let identity: RepresentationIdentity
  // Safe: every reader and fill that has a coordinator has its body, too. A weak reference would make every retain of a body slower.
  unowned let body: StoredBody
  /// Whether pawl made the body from another one, as a coded form. An origin is never asked for bytes of such a body.
  let isForm: Bool
  let state = Locked(State())

  private init(_ response: StoredResponse) {
    var identity = RepresentationIdentity(stored: response.head, total: response.body.total)
    // An origin gives ranges of its representation only, never of another response that it sends instead (such as an error page).
    if response.head.status != 200 { (identity.tag, identity.lastModifiedIsStrong) = (nil, false) }
    // A page that differs for each user may have the same date for all users.
    if response.personal != nil { identity.lastModifiedIsStrong = false }
    isForm = response.body.isForm
    if isForm { (identity.tag, identity.lastModifiedIsStrong) = (nil, false) }
    self.identity = identity
    announcesRanges = response.head.fields.first(.acceptRanges)?.trimmed.equalsIgnoringCase("bytes") ?? false
    body = response.body
  }

  /// Returns the coordinator of a body, if the body is being read, filled, written or compared. A body with a coordinator is not evicted.
  static func existing(_ response: StoredResponse) -> FillCoordinator? {
    response.body.withFill { $0 as? FillCoordinator }
  }

  /// Calls `act` with the body's coordinator, and makes one if there is none. `act` adds a reader, a span, a writer or a comparison, or
  /// finds one there; the coordinator stays until the last of them has ended.
  static func use<R>(_ response: StoredResponse, _ act: (FillCoordinator) -> R) -> R {
    // Made outside of the lock, because it reads the length of the body.
    let made = existing(response) ?? FillCoordinator(response)
    return response.body.withFill { slot in
      let coordinator = slot as? FillCoordinator ?? made
      slot = coordinator
      return act(coordinator)
    }
  }

  /// Removes the coordinator from its body when it has no reader, span, writer or comparison left.
  func releaseIfIdle() {
    body.withFill { slot in
      guard slot === self else { return }
      let isIdle = state.withLock { $0.spans.isEmpty && $0.readers.isEmpty && $0.comparison == nil && $0.writer == nil }
      if isIdle { slot = nil }
    }
  }

  /// Whether the missing bytes of this response can be fetched from its origin by range.
  static func canFetchRanges(_ response: StoredResponse) -> Bool {
    if let coordinator = existing(response) { return coordinator.canFetchRanges }
    return FillCoordinator(response).canFetchRanges
  }

  static func isFilling(_ response: StoredResponse) -> Bool { existing(response)?.isFilling ?? false }

  /// Whether missing bytes can be fetched by range. A body of unknown length is fetched anew, and compared.
  var canFetchRanges: Bool {
    identity.strongValidator != nil && total != nil && !state.withLock { $0.refusesRanges }
  }
  var total: UInt64? { identity.total ?? body.total }
  var isFilling: Bool { state.withLock { !$0.spans.isEmpty || $0.writer != nil } }
  var comparison: TwinComparison? { state.withLock { $0.comparison } }
  var sharing: Sharing? { state.withLock { $0.sharing } }
  /// Whether the origin says that it has ranges (`Accept-Ranges`). Only then a reader asks for a range of its own while a fill is on its
  /// way to the reader's position.
  let announcesRanges: Bool
  var refusesRanges: Bool { state.withLock { $0.refusesRanges } }
  func originRefusesRanges() { state.withLock { $0.refusesRanges = true } }

  static func compare(_ response: StoredResponse, with twin: TwinComparison) {
    use(response) { coordinator in coordinator.state.withLock { $0.comparison = twin } }
  }

  func compared() {
    state.withLock { $0.comparison = nil }
    releaseIfIdle()
  }

  /// Wakes the fills after more of the body has been compared with the body that it replaces.
  func comparisonMoved() {
    guard identity.total == nil else { return }
    for span in state.withLock({ $0.spans }) { span.loop.run { $0.readersMoved() } }
  }

  // MARK: - Readers

  /// Adds a reader.
  /// - Parameter request: identifies the request for which the reader reads. It is only compared with other requests.
  /// - Returns: the coordinator, and how many fills had failed before this reader came.
  static func join(
    _ reader: ObjectIdentifier, _ response: StoredResponse, for request: ObjectIdentifier? = nil
  ) -> (coordinator: FillCoordinator, failures: Int) {
    use(response) { coordinator in
      coordinator.state.withLock {
        $0.readers[reader] = .some(request)
        return (coordinator, $0.failures)
      }
    }
  }

  /// Restricts the new content of the body to one request.
  /// - Returns: `false` if another request reads the body, or if no request reads it; then nothing changes.
  func narrow(to request: ObjectIdentifier) -> Bool {
    state.withLock { state in
      guard !state.readers.isEmpty, state.readers.values.allSatisfy({ $0 == request }) else { return false }
      state.only = request
      return true
    }
  }

  /// Whether a reader may have the content that comes. After ``narrow(to:)``, a reader of another request may not.
  func admits(_ reader: ObjectIdentifier) -> Bool {
    state.withLock { state in state.only == nil || state.only == state.readers[reader] ?? nil }
  }

  /// Notes that a reader has sent bytes. A fill or a writer that waits for readers may then go on.
  func moved(_ reader: ObjectIdentifier) {
    guard identity.total == nil || body.isStreaming else { return }
    let (waiting, writer) = state.withLock { state in
      (state.readers[reader] != nil ? state.spans : [], state.writer.flatMap { $0.isHeld ? $0.loop : nil })
    }
    for span in waiting { span.loop.run { $0.readersMoved() } }
    writer?.run { $0.readersMoved() }
  }

  func left(_ reader: ObjectIdentifier) {
    let mayWait = identity.total == nil || body.isStreaming
    let (spans, isEmpty, writer) = state.withLock { state in
      state.readers[reader] = nil
      return (state.readers.isEmpty || mayWait ? state.spans : [], state.readers.isEmpty, state.writer?.loop)
    }
    writer?.run { $0.readersMoved() }
    // A fill may have waited for this reader.
    for span in spans { span.loop.run { isEmpty ? $0.readersLeft() : $0.readersMoved() } }
    releaseIfIdle()
  }

  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  // MARK: - Spans

  static func began(
    _ fill: Fill, _ response: StoredResponse, on loop: EventLoop, from start: UInt64, through end: UInt64?,
    sharing: Sharing? = nil
  ) -> FillCoordinator {
    let (coordinator, overtaken) = use(response) { coordinator in
      if let sharing { coordinator.state.withLock { $0.sharing = sharing } }
      return (coordinator, coordinator.enter(fill, on: loop, from: start, through: end))
    }
    for (other, end) in overtaken { other.loop.run { $0.shorten(to: end) } }
    return coordinator
  }

  /// Does the same as ``began(_:_:on:from:through:sharing:)`` for a span that a reader lacks. Returns `nil` if a reader on another loop has
  /// meanwhile started a fill that brings these bytes soon enough.
  static func beganUnlessComing(
    _ fill: Fill, _ response: StoredResponse, on loop: EventLoop, _ span: Range<UInt64>
  ) -> FillCoordinator? {
    let held = response.body.known
    let (coordinator, overtaken) = use(response) { coordinator in
      let overtaken =
        coordinator.isComing(span.lowerBound, held, loop.now, mending: fill.mends)
        ? nil : coordinator.enter(fill, on: loop, from: span.lowerBound, through: span.upperBound)
      return (coordinator, overtaken)
    }
    guard let overtaken else { return nil }
    for (other, end) in overtaken { other.loop.run { $0.shorten(to: end) } }
    return coordinator
  }

  /// Whether a span brings the bytes at `position` soon enough. The caller holds the body's lock, and spans are added only under this lock.
  /// So the result stays true until the caller has added its own span.
  private func isComing(_ position: UInt64, _ held: HeldBytes, _ now: Monotonic, mending: Bool) -> Bool {
    state.withLock { state in
      state.spans.contains { span in
        guard span.start <= position, position < span.end ?? .max else { return false }
        return mending
          ? span.mends
          : !Self.isFarAhead(position, of: span.course, held, 0, usually: state.rate(held, now), now)
      }
    }
  }

  /// Adds the span of a fill. A span that covers the start of the new span is overtaken, and ends there from now on.
  /// - Returns: the overtaken spans, each with its new end.
  private func enter(_ fill: Fill, on loop: EventLoop, from start: UInt64, through end: UInt64?) -> [(Span, UInt64)] {
    let span = Span(
      fill: ObjectIdentifier(fill), loop: LoopWeak(fill, on: loop), start: start, end: end, wanted: end,
      began: loop.now, mends: fill.mends)
    return state.withLock { state -> [(Span, UInt64)] in
      var overtaken: [(Span, UInt64)] = []
      for index in state.spans.indices {
        let other = state.spans[index]
        guard other.start < start, start < other.end ?? .max, !fill.mends else { continue }
        state.spans[index].end = start
        overtaken.append((other, start))
      }
      state.spans.append(span)
      return overtaken
    }
  }
}
