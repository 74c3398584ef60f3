import PawlBase
import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// Who reads one stored body, and which spans of it are on their way from the origin. Shared by all loops; one lock,
/// held for a decision only. A fill belongs to nobody: it is started for a reader's need and outlives that reader
/// by the rules of `decideAbandoned`.
final class FillCoordinator: Sendable {
  struct Span {
    var fill: ObjectIdentifier
    var loop: LoopWeak<Fill>
    var start: UInt64
    /// Exclusive; `nil` until the total is known.
    var end: UInt64?
    /// Where it would end had nobody overtaken it.
    let wanted: UInt64?
    var began: Monotonic
    /// It brings again what is lost, while others pass it by.
    var mends = false

    var course: Course { Course(start: start, began: began) }
  }

  struct State {
    var spans: [Span] = []
    /// Each with the request that it reads for.
    var readers: [ObjectIdentifier: ObjectIdentifier?] = [:]
    var refusesRanges = false
    /// How fast the origin was that brought some of it, in bytes a second, once that could be told.
    var usualRate: Double?
    /// Counts fills that failed for good; readers that joined before the last of them end where their bytes end.
    var failures = 0
    var failure: BodyEnd?
    var comparison: TwinComparison?
    /// Whose fetch brings it, while it comes.
    var sharing: Sharing?
    /// The one request that the rest is for, once an answer has said so.
    var only: ObjectIdentifier?
    /// Of a coded form: who writes it, and whether it waits for who reads it.
    var writer: (loop: LoopWeak<FormWriter>, isHeld: Bool)?
  }

  /// What a reader that lacks bytes does.
  enum Need {
    /// They are on their way.
    case wait
    case fetch(Range<UInt64>)
    /// To be fetched from zero, and compared: of what it brings the lost bytes count.
    case replay(Range<UInt64>)
    case fail(BodyEnd)
  }

  static let spanLimit = 8

  let identity: RepresentationIdentity
  // Safe: all who have a coordinator, readers and fills, have its body, too. A weak reference would make each retain of a body a dear one.
  unowned let body: StoredBody
  /// Made by pawl of another body: nothing of it is ever asked for at an origin.
  let isForm: Bool
  let state = Locked(State())

  private init(_ response: StoredResponse) {
    var identity = RepresentationIdentity(stored: response.head, total: response.body.total)
    // What an origin gives ranges of is its representation, never what it said instead of one.
    if response.head.status != 200 { (identity.tag, identity.lastModifiedIsStrong) = (nil, false) }
    // A page that each user gets otherwise may have one date.
    if response.personal != nil { identity.lastModifiedIsStrong = false }
    isForm = response.body.isForm
    if isForm { (identity.tag, identity.lastModifiedIsStrong) = (nil, false) }
    self.identity = identity
    announcesRanges = response.head.fields.first(.acceptRanges)?.trimmed.equalsIgnoringCase("bytes") ?? false
    body = response.body
  }

  /// The coordinator of a body, while anybody reads, fills or compares it. It keeps the body from being evicted.
  static func existing(_ response: StoredResponse) -> FillCoordinator? {
    response.body.withFill { $0 as? FillCoordinator }
  }

  /// Acts on the body's coordinator, made where there is none; what `act` enters in it keeps it.
  static func use<R>(_ response: StoredResponse, _ act: (FillCoordinator) -> R) -> R {
    // Made outside of the lock: it asks the body for its length.
    let made = existing(response) ?? FillCoordinator(response)
    return response.body.withFill { slot in
      let coordinator = slot as? FillCoordinator ?? made
      slot = coordinator
      return act(coordinator)
    }
  }

  /// Lets the body go when nobody is left.
  func releaseIfIdle() {
    body.withFill { slot in
      guard slot === self else { return }
      let isIdle = state.withLock { $0.spans.isEmpty && $0.readers.isEmpty && $0.comparison == nil && $0.writer == nil }
      if isIdle { slot = nil }
    }
  }

  /// Whether what is missing of this response can be had from its origin by range.
  static func canFetchRanges(_ response: StoredResponse) -> Bool {
    if let coordinator = existing(response) { return coordinator.canFetchRanges }
    return FillCoordinator(response).canFetchRanges
  }

  static func isFilling(_ response: StoredResponse) -> Bool { existing(response)?.isFilling ?? false }

  /// Not of a body whose end nobody knows: that is fetched anew, and compared.
  var canFetchRanges: Bool {
    identity.strongValidator != nil && total != nil && !state.withLock { $0.refusesRanges }
  }
  var total: UInt64? { identity.total ?? body.total }
  var isFilling: Bool { state.withLock { !$0.spans.isEmpty || $0.writer != nil } }
  var comparison: TwinComparison? { state.withLock { $0.comparison } }
  var sharing: Sharing? { state.withLock { $0.sharing } }
  /// Whether the origin says that it has ranges: only then one is asked for ahead of what comes anyway.
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

  /// Some more of the body has been compared with the one that it replaces.
  func comparisonMoved() {
    guard identity.total == nil else { return }
    for span in state.withLock({ $0.spans }) { span.loop.run { $0.readersMoved() } }
  }

  // MARK: - Readers

  /// - Parameter request: which it reads for; nothing else about it counts.
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

  /// What comes from now on is for one request.
  /// - Returns: `false` when others read, or nobody: then it is for none.
  func narrow(to request: ObjectIdentifier) -> Bool {
    state.withLock { state in
      guard !state.readers.isEmpty, state.readers.values.allSatisfy({ $0 == request }) else { return false }
      state.only = request
      return true
    }
  }

  /// Whether a reader may have what comes: one that joined while the body was narrowed to another's request may not.
  func admits(_ reader: ObjectIdentifier) -> Bool {
    state.withLock { state in state.only == nil || state.only == state.readers[reader] ?? nil }
  }

  /// A reader has sent something.
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
    // It may have been the one for which a fill waited.
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

  /// As ``began(_:_:on:from:through:)``, for a span that a reader lacks. `nil` when another loop's reader has begun one
  /// meanwhile that brings the same soon enough.
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

  /// Spans are entered under the body's lock only: what this says holds until the caller has entered its own.
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

  /// Notes the span; those that it overtakes end where it begins.
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
