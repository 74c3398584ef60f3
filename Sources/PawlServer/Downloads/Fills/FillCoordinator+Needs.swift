import PawlCache
import PawlCacheStore
import PawlLoop

/// Decides what a reader does that lacks bytes: it waits for those on their way, or has them fetched.
extension FillCoordinator {
  /// The time, in seconds, that a fill may take to reach a reader which is ahead of it. If it takes longer, the reader asks for a range
  /// of its own.
  static let jumpPatience: Double = 0.5
  /// The distance, in bytes, beyond which a reader may do so: as much is asked for in one piece anyway.
  static let jumpDistance = fetchAlignment
  /// The time for which a fill is watched before its speed counts.
  static let jumpMeasure = Duration.milliseconds(100)
  /// The speed that is assumed before that, in bytes per second, if no speed of this body is known yet: half of what a network of one
  /// gigabit brings. A reader that is further ahead than ``jumpPatience`` at this speed does not wait. A seek, or one piece of a download
  /// in four pieces, so costs at most one more request to the origin.
  static let assumedRate: Double = 67_108_864

  /// The offset and the time at which a span began, from which its speed is computed.
  struct Course {
    var start: UInt64
    var began: Monotonic
  }

  /// Decides for a reader at `position` that needs bytes up to `end` and finds none.
  func need(_ position: UInt64, through end: UInt64, held: HeldBytes, joinedAt failures: Int, now: Monotonic) -> Need {
    if isForm { return needOfForm() }
    if let lost = body.lostRun(at: position) { return need(lost, through: end, joinedAt: failures) }
    // Bytes that pass through memory have come, too.
    let streamed = body.windowEnd ?? 0
    return state.withLock { state in
      let hasFailed = state.failures > failures
      let canRange = identity.strongValidator != nil && !state.refusesRanges
      let covering = state.spans.first { $0.start <= position && position < $0.end ?? .max }
      if let covering {
        // After a failure no reader asks ahead; what is on its way may come all the same.
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

  /// Returns the span that has to be fetched before a reader of `wanted` can begin, or go on behind the held bytes. `nil`: all is held,
  /// or the first missing bytes are on their way.
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

  /// Whether all of `wanted` is held, or on its way in the present spans.
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

  /// Whether a span would take longer than ``jumpPatience`` to reach a position, by its speed. While that is not known, the usual speed
  /// counts: in the first moments of a fill every reader would otherwise start its own.
  static func isFarAhead(
    _ position: UInt64, of span: Course, _ held: HeldBytes, _ streamed: UInt64, usually usualRate: Double?,
    _ now: Monotonic
  ) -> Bool {
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    guard position > frontier, position - frontier > jumpDistance else { return false }
    let rate = rate(of: span, held, streamed, now) ?? usualRate ?? assumedRate
    return rate * jumpPatience < Double(position - frontier)
  }

  /// Returns the speed of a span over all its time, in bytes per second; `nil` before ``jumpMeasure``.
  fileprivate static func rate(of span: Course, _ held: HeldBytes, _ streamed: UInt64, _ now: Monotonic) -> Double? {
    let elapsed = now - span.began
    guard elapsed >= jumpMeasure else { return nil }
    // Bytes that were held before, or came by another span, count as well: the span is not slower because of them.
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    return Double(frontier - span.start) / (elapsed / .seconds(1))
  }
}

extension FillCoordinator.State {
  /// Returns the speed of the fastest span, or of earlier ones, in bytes per second; `nil` while none is known.
  func rate(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    let rates = spans.compactMap { FillCoordinator.rate(of: $0.course, held, 0, now) } + [usualRate].compactMap { $0 }
    return rates.max()
  }

  /// The same; remembers it for the time after these spans have ended.
  mutating func learn(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    // A span that has not brought anything says nothing about the origin's speed.
    if let rate = rate(held, now), rate > 0 { usualRate = rate }
    return usualRate
  }
}
