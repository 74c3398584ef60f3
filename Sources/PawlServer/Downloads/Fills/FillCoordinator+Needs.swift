import PawlCache
import PawlCacheStore
import PawlLoop

/// What a reader does that lacks bytes: waits for those on their way, or has them fetched.
extension FillCoordinator {
  /// A reader ahead of a fill asks for its own range when the fill would need longer than this to get there, in seconds.
  static let jumpPatience: Double = 0.5
  /// … and it is not within what is asked for in one piece anyway.
  static let jumpDistance = fetchAlignment
  /// How long a fill is watched before its speed counts.
  static let jumpMeasure = Duration.milliseconds(100)
  /// … and what is taken for its speed before that, in bytes a second, where nothing is known of how fast this body comes: half of what
  /// a network of one gigabit brings. A reader further ahead than ``jumpPatience`` of it waits for nothing; one piece of a download in
  /// four, or a seek, costs a request to the origin at most.
  static let assumedRate: Double = 67_108_864

  /// Where a span began, and when: by that its speed is known.
  struct Course {
    var start: UInt64
    var began: Monotonic
  }

  /// Decides for a reader at `position` that wants bytes up to `end` and has none.
  func need(_ position: UInt64, through end: UInt64, held: HeldBytes, joinedAt failures: Int, now: Monotonic) -> Need {
    if isForm { return needOfForm() }
    if let lost = body.lostRun(at: position) { return need(lost, through: end, joinedAt: failures) }
    // What passes through memory has come, too.
    let streamed = body.windowEnd ?? 0
    return state.withLock { state in
      let hasFailed = state.failures > failures
      let canRange = identity.strongValidator != nil && !state.refusesRanges
      let covering = state.spans.first { $0.start <= position && position < $0.end ?? .max }
      if let covering {
        // After a failure nobody asks ahead; what is on its way may come all the same.
        let mayAskAhead = canRange && announcesRanges && !hasFailed && state.spans.count < Self.spanLimit
        let isFar =
          mayAskAhead
          && Self.isFarAhead(
            position, of: covering.course, held, streamed, usually: state.learn(held, now), now)
        if !isFar { return .wait }
      }
      if hasFailed { return .fail(state.failure ?? BodyEnd(party: .origin, reason: "failed")) }
      guard canRange, let total else {
        return .fail(BodyEnd(party: .origin, reason: "rest-cannot-be-proven"))
      }
      guard state.spans.count < Self.spanLimit else { return .wait }
      let active = state.spans.compactMap { span -> Range<UInt64>? in
        // A span that this reader overtakes still ends where the new one begins.
        let end = span.fill == covering?.fill ? position : span.end ?? total
        return span.start < end ? span.start..<end : nil
      }
      guard let span = fetchSpan(wanted: position..<end, held: held, active: active, total: total) else { return .wait }
      return .fetch(span)
    }
  }

  /// What has to be fetched before a reader of `wanted` can begin, or go on behind what is held; `nil`: it is all here, or
  /// its first bytes that are not are on their way.
  static func unattended(_ response: StoredResponse, _ wanted: Range<UInt64>, of total: UInt64) -> Range<UInt64>? {
    let held = response.body.known
    let spans = existing(response)?.state.withLock { $0.spans } ?? []
    let position = held.contiguousEnd(from: wanted.lowerBound)
    guard spans.count < spanLimit, !spans.contains(where: { $0.start <= position && position < $0.end ?? .max }) else {
      return nil
    }
    let active = spans.compactMap { span in span.start < span.end ?? total ? span.start..<(span.end ?? total) : nil }
    return fetchSpan(wanted: wanted, held: held, active: active, total: total)
  }

  /// Whether all that is wanted is held, or on its way by what is asked for already.
  static func isAllComing(_ response: StoredResponse, _ wanted: Range<UInt64>) -> Bool {
    let held = response.body.known
    let spans = existing(response)?.state.withLock { $0.spans } ?? []
    var position = wanted.lowerBound
    while position < wanted.upperBound {
      let end = held.contiguousEnd(from: position)
      if end > position {
        position = end
      } else if let span = spans.first(where: { $0.start <= position && position < $0.end ?? .max }) {
        position = span.end ?? .max
      } else {
        return false
      }
    }
    return true
  }

  /// Whether a span would need too long to come to a position (``jumpPatience``), by its speed; while that is not known, by the usual
  /// one: the first moments of a fill would send every reader off on its own.
  static func isFarAhead(
    _ position: UInt64, of span: Course, _ held: HeldBytes, _ streamed: UInt64, usually usualRate: Double?,
    _ now: Monotonic
  ) -> Bool {
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    guard position > frontier, position - frontier > jumpDistance else { return false }
    let rate = rate(of: span, held, streamed, now) ?? usualRate ?? assumedRate
    return rate * jumpPatience < Double(position - frontier)
  }

  /// In bytes a second, over all its time; `nil` before ``jumpMeasure``.
  fileprivate static func rate(of span: Course, _ held: HeldBytes, _ streamed: UInt64, _ now: Monotonic) -> Double? {
    let elapsed = now - span.began
    guard elapsed >= jumpMeasure else { return nil }
    // What it passed by on its way may have been there before, or have come by another: that is no slower.
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    return Double(frontier - span.start) / (elapsed / .seconds(1))
  }
}

extension FillCoordinator.State {
  /// How fast the fastest of the spans is, or others were before, in bytes a second; `nil` while nothing can be told.
  func rate(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    let rates = spans.compactMap { FillCoordinator.rate(of: $0.course, held, 0, now) } + [usualRate].compactMap { $0 }
    return rates.max()
  }

  /// The same, noted for when these spans have ended.
  mutating func learn(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    // One that has not brought anything says nothing of the origin's speed.
    if let rate = rate(held, now), rate > 0 { usualRate = rate }
    return usualRate
  }
}
