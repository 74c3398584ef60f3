import PawlCache
import PawlCacheStore
import PawlLoop

/// Decides how a reader gets bytes that it lacks. The reader waits for bytes that are on their way, or has the missing bytes fetched.
extension FillCoordinator {
  /// The longest time, in seconds, that a fill may take to reach a reader which is ahead of it. If the fill takes longer, the reader asks
  /// for a range of its own.
  static let jumpPatience: Double = 0.5
  /// The smallest distance, in bytes, by which such a reader has to be ahead of the fill. Range fetches are rounded to multiples of this
  /// number anyway.
  static let jumpDistance = fetchAlignment
  /// The time for which a fill is watched before its speed is used.
  static let jumpMeasure = Duration.milliseconds(100)
  /// The speed, in bytes per second, that is used for a fill until it can be measured, if no speed of this body is known. It is half of
  /// what a network of 1 Gbit/s brings. A reader does not wait if a fill of this speed would take longer than ``jumpPatience``. So a seek,
  /// or one piece of a download in four pieces, costs at most one additional request to the origin.
  static let assumedRate: Double = 67_108_864

  /// The offset and the time at which a span began, from which its speed is computed.
  struct Course {
    var start: UInt64
    var began: Monotonic
  }

  /// Decides how a reader gets the bytes from `position` to `end`, because the byte at `position` is missing.
  func need(_ position: UInt64, through end: UInt64, held: HeldBytes, joinedAt failures: Int, now: Monotonic) -> Need {
    if isForm { return needOfForm() }
    if let lost = body.lostRun(at: position) { return need(lost, through: end, joinedAt: failures) }
    // Bytes that pass through memory count as bytes that have come, too.
    let streamed = body.windowEnd ?? 0
    return state.withLock { state in
      let hasFailed = state.failures > failures
      let canRange = identity.strongValidator != nil && !state.refusesRanges
      let covering = state.spans.first { $0.start <= position && position < $0.end ?? .max }
      if let covering {
        // After a failure no reader asks for a range of its own. The bytes that are on their way may still come.
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
        // The span that this reader overtakes will end where the new span begins.
        let end = span.fill == covering?.fill ? position : span.end ?? total
        return span.start < end ? span.start..<end : nil
      }
      guard let span = fetchSpan(wanted: position..<end, held: held, active: active, total: total) else { return .wait }
      return .fetch(span)
    }
  }

  /// Returns the span that has to be fetched before a reader of `wanted` can begin, or go on after the held bytes. `nil`: all is held, the
  /// first missing bytes are on their way, or there are already ``spanLimit`` spans.
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

  /// Whether all of `wanted` is held, or will be brought by the present spans.
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

  /// Whether a span, at its speed, would take longer than ``jumpPatience`` to reach a position. While the speed of the span is unknown, the
  /// usual speed is used. Otherwise every reader would start a fill of its own in the first moments of a fill.
  static func isFarAhead(
    _ position: UInt64, of span: Course, _ held: HeldBytes, _ streamed: UInt64, usually usualRate: Double?,
    _ now: Monotonic
  ) -> Bool {
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    guard position > frontier, position - frontier > jumpDistance else { return false }
    let rate = rate(of: span, held, streamed, now) ?? usualRate ?? assumedRate
    return rate * jumpPatience < Double(position - frontier)
  }

  /// Returns the speed of a span over all its time, in bytes per second; `nil` if it began less than ``jumpMeasure`` ago.
  fileprivate static func rate(of span: Course, _ held: HeldBytes, _ streamed: UInt64, _ now: Monotonic) -> Double? {
    let elapsed = now - span.began
    guard elapsed >= jumpMeasure else { return nil }
    // Bytes that were held before, or that another span brought, count as well. They only make the span look faster.
    let frontier = max(held.contiguousEnd(from: span.start), streamed)
    return Double(frontier - span.start) / (elapsed / .seconds(1))
  }
}

extension FillCoordinator.State {
  /// Returns the highest known speed of the present spans and of earlier ones, in bytes per second; `nil` while none is known.
  func rate(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    let rates = spans.compactMap { FillCoordinator.rate(of: $0.course, held, 0, now) } + [usualRate].compactMap { $0 }
    return rates.max()
  }

  /// Returns the same speed as ``rate(_:_:)``, and remembers it for the time after the present spans.
  mutating func learn(_ held: HeldBytes, _ now: Monotonic) -> Double? {
    // A span that has not brought anything says nothing about the origin's speed.
    if let rate = rate(held, now), rate > 0 { usualRate = rate }
    return usualRate
  }
}
