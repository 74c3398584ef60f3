/// From when to when a stored response is fresh: what ``Freshness/evaluate(_:policy:now:)`` says at any time, worked out once.
package struct FreshWindow: Hashable, Sendable {
  /// Wall clock, seconds: before then the clock was set back, and nobody knows how old the response is.
  package let from: Int64
  /// Wall clock, seconds: from then on it is stale.
  package let until: Int64
  /// Wall clock, seconds: when it was made, as its `Age` counts.
  package let born: Int64

  /// - Parameter now: wall clock, seconds since 1970, not before ``from``.
  package init(_ head: StoredHead, policy: CachePolicy, now: Int64) {
    let freshness = Freshness.evaluate(head, policy: policy, now: now)
    (until, born) = (now + freshness.ttl, now - freshness.age)
    from = head.responseTime - Freshness.clockTolerance
  }

  package func contains(_ now: Int64) -> Bool { from <= now && now < until }
}
