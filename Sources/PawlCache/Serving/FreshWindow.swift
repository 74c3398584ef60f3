/// The time in which a stored response is fresh, computed once from ``Freshness/evaluate(_:policy:now:)``.
package struct FreshWindow: Hashable, Sendable {
  /// The start, wall clock in seconds. Before it the clock was set back, and the age of the response is unknown.
  package let from: Int64
  /// The end, wall clock in seconds: from then on the response is stale.
  package let until: Int64
  /// The time from which its `Age` counts, wall clock in seconds.
  package let born: Int64

  /// - Parameter now: wall clock, seconds since 1970, not before ``from``.
  package init(_ head: StoredHead, policy: CachePolicy, now: Int64) {
    let freshness = Freshness.evaluate(head, policy: policy, now: now)
    (until, born) = (now + freshness.ttl, now - freshness.age)
    from = head.responseTime - Freshness.clockTolerance
  }

  package func contains(_ now: Int64) -> Bool { from <= now && now < until }
}
