import PawlCache
import PawlCacheStore

/// `resume-ttl`: who may be answered from stored bytes that are no longer fresh, or no longer current.
enum ResumeTTL {
  /// A replaced or stale body is kept for clients that hold a part of it only where the origin cannot tell by itself
  /// whether it still is what it was, and did not forbid it.
  static func staysForResumption(_ stored: StoredResponse, policy: CachePolicy) -> Bool {
    let control = stored.head.cacheControl
    let isForbidden = control.noStore || (control.noCache || control.mustRevalidate) && !policy.resumeTTLNoCache
    return policy.resumeTTL > 0 && stored.head.status == 200 && !stored.head.canBeValidated && !isForbidden
  }

  /// The rule of `resume-ttl`.
  static func answersFromStore(_ stored: StoredResponse, policy: CachePolicy, now: Int64) -> Bool {
    staysForResumption(stored, policy: policy) && now - stored.storedAt <= policy.resumeTTL
  }
}
