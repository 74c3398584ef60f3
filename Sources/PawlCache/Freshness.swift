import PawlHTTP

/// How long a stored response may be used without asking, and how old it is (RFC 9111 §4.2). Seconds.
package struct Freshness: Hashable, Sendable {
  package let lifetime: Int64
  package let age: Int64

  package init(lifetime: Int64, age: Int64) { (self.lifetime, self.age) = (lifetime, age) }

  package var isFresh: Bool { lifetime > age }
  /// How long it stays fresh; negative: how long it has been stale.
  package var ttl: Int64 { lifetime - age }
  package var staleness: Int64 { max(age - lifetime, 0) }

  /// - Parameter now: wall clock, seconds since 1970.
  package static func evaluate(_ head: StoredHead, policy: CachePolicy, now: Int64) -> Freshness {
    Freshness(
      lifetime: lifetime(
        status: head.status, fields: head.fields, directives: head.directives, validators: head.validators,
        receivedAt: head.responseTime, policy: policy),
      age: age(head, now: now))
  }

  /// RFC 9111 §4.2.3.
  private static func age(_ head: StoredHead, now: Int64) -> Int64 {
    let apparent = max(0, head.responseTime.clampedDifference(head.validators.date ?? head.responseTime))
    let delay = max(0, head.responseTime.clampedDifference(head.requestTime))
    let initial = max(apparent, Age.parse(head.fields) + delay)
    return min(initial + max(0, now.clampedDifference(head.responseTime)), CacheControl.longest)
  }

  /// The longest a response is taken for fresh by its age alone, in seconds.
  private static let longestHeuristic: Int64 = 24 * 3600

  /// RFC 9111 §4.2.1 and §4.2.2: what the origin says, a tenth of the time since it was last modified, `default-ttl`.
  static func lifetime(
    status: Int, fields: Fields, directives: ResponseDirectives, validators: Validators, receivedAt: Int64,
    policy: CachePolicy
  ) -> Int64 {
    if let explicit = directives.explicitLifetime(fields, receivedAt: receivedAt) { return explicit }
    guard StatusRules.isHeuristicallyCacheable(status) || directives.cacheControl.isPublic else { return 0 }
    if let modified = validators.lastModified {
      return min(max(0, (validators.date ?? receivedAt).clampedDifference(modified)) / 10, longestHeuristic)
    }
    return max(0, policy.defaultTTL)
  }
}
