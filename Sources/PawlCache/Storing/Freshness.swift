import PawlHTTP

/// The lifetime of a stored response, in which it may be used without revalidation, and its age (RFC 9111 §4.2). In seconds.
package struct Freshness: Hashable, Sendable {
  package let lifetime: Int64
  package let age: Int64

  package init(lifetime: Int64, age: Int64) { (self.lifetime, self.age) = (lifetime, age) }

  package var isFresh: Bool { lifetime > age }
  /// The time for which the response stays fresh; negative: the time since it became stale.
  package var ttl: Int64 { lifetime - age }
  package var staleness: Int64 { max(age - lifetime, 0) }

  /// Computes the freshness at a point in time. This is only arithmetic, because the fields were parsed when the head was stored.
  /// - Parameter now: wall clock, seconds since 1970.
  package static func evaluate(_ head: StoredHead, policy: CachePolicy, now: Int64) -> Freshness {
    let lifetime =
      head.explicitLifetime
      ?? heuristicLifetime(
        status: head.status, isPublic: head.cacheControl.isPublic, lastModified: head.validators.lastModified,
        date: head.date ?? head.responseTime, policy: policy)
    let resident = now.clampedDifference(head.responseTime)
    // The clock was set back after the response arrived. So its age is unknown, and it counts as stale.
    guard resident >= -clockTolerance else { return Freshness(lifetime: lifetime, age: CacheControl.longest) }
    return Freshness(lifetime: lifetime, age: min(head.initialAge + max(0, resident), CacheControl.longest))
  }

  /// The corrected initial age, in seconds (RFC 9111 §4.2.3).
  static func initialAge(_ fields: Fields, date: Int64?, requestTime: Int64, responseTime: Int64) -> Int64 {
    let apparent = max(0, responseTime.clampedDifference(date ?? responseTime))
    let delay = max(0, responseTime.clampedDifference(requestTime))
    return max(apparent, Age.parse(fields) + delay)
  }

  /// How far the clock may go back without making responses stale, in seconds. Clocks are often corrected a little.
  package static let clockTolerance: Int64 = 5

  /// The lifetime of a response that gives none (RFC 9111 §4.2.2): a tenth of the time since it was last modified, at most
  /// `heuristic-ttl`. Where `Last-Modified` is missing, or the heuristic is off, the lifetime is `default-ttl`.
  static func heuristicLifetime(
    status: Int, isPublic: Bool, lastModified: Int64?, date: Int64, policy: CachePolicy
  ) -> Int64 {
    guard StatusRules.isHeuristicallyCacheable(status) || isPublic else { return 0 }
    if let lastModified, policy.heuristicTTL > 0 {
      return min(max(0, date.clampedDifference(lastModified)) / 10, policy.heuristicTTL)
    }
    return max(0, policy.defaultTTL)
  }
}
