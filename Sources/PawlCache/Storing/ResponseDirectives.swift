package import PawlHTTP

/// The cache directives of a response that apply: those of `CDN-Cache-Control` where it is valid, else those of `Cache-Control`
/// and `Expires` (RFC 9213 §2.2).
package struct ResponseDirectives: Hashable, Sendable {
  package var cacheControl: CacheControl
  /// Whether `CDN-Cache-Control` applies; `Cache-Control` and `Expires` are then ignored.
  package var isTargeted: Bool

  package init(_ fields: Fields) {
    if let targeted = TargetedCacheControl.parse(cdn: fields.all(.cdnCacheControl)) {
      (cacheControl, isTargeted) = (targeted, true)
    } else {
      (cacheControl, isTargeted) = (CacheControl(fields), false)
    }
  }

  /// The lifetime that the origin gives, in seconds from its `Date`: `s-maxage`, `max-age`, `Expires` (RFC 9111 §4.2.1); `nil`
  /// when it gives none.
  /// - Parameter receivedAt: wall clock, seconds since 1970; replaces a missing `Date`.
  package func explicitLifetime(_ fields: Fields, receivedAt: Int64) -> Int64? {
    if let lifetime = cacheControl.sMaxAge ?? cacheControl.maxAge { return lifetime }
    guard !isTargeted, fields.contains(.expires) else { return nil }
    let date = fields.only(.date).flatMap { HTTPDate.parse($0, now: receivedAt) } ?? receivedAt
    // Several lines, or a value that is not a date, mean that the response has already expired (RFC 9111 §5.3).
    guard let expires = fields.only(.expires).flatMap({ HTTPDate.parse($0, now: receivedAt) }) else { return 0 }
    return max(0, expires.clampedDifference(date))
  }

  /// Whether the origin addresses shared caches explicitly: by `public`, by `s-maxage` or by a targeted field.
  package var isSharedExplicitly: Bool { cacheControl.isPublic || cacheControl.sMaxAge != nil || isTargeted }

  /// Whether the response is for all clients, with any cookies. Yes if it has `public`, or a lifetime above zero. (`max-age=0`
  /// alone is common on pages that are made for one user.)
  package func meansEverybody(_ fields: Fields, receivedAt: Int64) -> Bool {
    cacheControl.isPublic || explicitLifetime(fields, receivedAt: receivedAt) ?? 0 > 0
  }
}

extension Int64 {
  /// `self - other`, limited to ±2^31. Dates of clients and origins may be any numbers, and longer times make no difference.
  func clampedDifference(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    if overflow { return self < other ? -CacheControl.longest : CacheControl.longest }
    return Swift.min(Swift.max(difference, -CacheControl.longest), CacheControl.longest)
  }
}
