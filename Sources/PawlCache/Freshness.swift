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
    let initial = max(apparent, statedAge(head.fields) + delay)
    return min(initial + max(0, now.clampedDifference(head.responseTime)), CacheControl.longest)
  }

  /// `Age` of the answer: the first value; 0 when absent or no number.
  private static func statedAge(_ fields: Fields) -> Int64 {
    guard let value = fields.first(.age)?.prefix(while: { $0 != 0x2c }).trimmed, !value.isEmpty,
      value.allSatisfy({ $0 &- 0x30 <= 9 })
    else { return 0 }
    return Int64(min(value.strictDecimal ?? .max, UInt64(CacheControl.longest)))
  }

  /// The longest a response is taken for fresh by its age alone, in seconds.
  private static let longestHeuristic: Int64 = 24 * 3600

  /// RFC 9111 §4.2.1 and §4.2.2: `s-maxage`, `max-age`, `Expires`, a tenth of the time since it was last modified, `default-ttl`.
  static func lifetime(
    status: Int, fields: Fields, directives: ResponseDirectives, validators: Validators, receivedAt: Int64,
    policy: CachePolicy
  ) -> Int64 {
    let control = directives.cacheControl
    if let explicit = control.sMaxAge ?? control.maxAge { return explicit }
    let date = validators.date ?? receivedAt
    if !directives.isTargeted, fields.contains(.expires) {
      // Several lines, or one that is no date, mean: already expired (RFC 9111 §5.3).
      let expires = fields.only(.expires).flatMap { HTTPDate.parse($0, now: receivedAt) }
      return max(0, (expires ?? date).clampedDifference(date))
    }
    guard StatusRules.isHeuristicallyCacheable(status) || control.isPublic else { return 0 }
    if let modified = validators.lastModified {
      return min(max(0, date.clampedDifference(modified)) / 10, longestHeuristic)
    }
    return max(0, policy.defaultTTL)
  }
}

extension Int64 {
  /// `self - other` within ±2^31: dates come from strangers, and no longer time is told apart.
  fileprivate func clampedDifference(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    if overflow { return self < other ? -CacheControl.longest : CacheControl.longest }
    return Swift.min(Swift.max(difference, -CacheControl.longest), CacheControl.longest)
  }
}
