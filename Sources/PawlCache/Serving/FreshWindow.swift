/// The time in which a stored response is fresh, computed once from ``Freshness/evaluate(_:policy:now:)``.
package struct FreshWindow: Hashable, Sendable {
  /// The start of the window, wall clock in seconds. If the clock shows an earlier time, it was set back, and the age of the
  /// response is unknown.
  package let from: Int64
  /// The end of the window, wall clock in seconds. From then on the response is stale.
  package let until: Int64
  /// The time from which the `Age` of the response counts, wall clock in seconds.
  package let born: Int64

  /// - Parameter now: wall clock, seconds since 1970, not before ``from``.
  package init(_ head: StoredHead, policy: CachePolicy, now: Int64) {
    let freshness = Freshness.evaluate(head, policy: policy, now: now)
    (until, born) = (now + freshness.ttl, now - freshness.age)
    from = head.responseTime - Freshness.clockTolerance
  }

  package func contains(_ now: Int64) -> Bool { from <= now && now < until }
}
