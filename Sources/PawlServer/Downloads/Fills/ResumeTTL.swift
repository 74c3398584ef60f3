import PawlCache
import PawlCacheStore

/// The rule of `resume-ttl`: which clients get stored bytes that are no longer fresh, or no longer current.
enum ResumeTTL {
  /// Whether a replaced or stale body is kept for clients that hold a part of it. It is kept only if it has no validator with which the
  /// origin could be asked whether the body is still current, and if its Cache-Control does not forbid it.
  static func staysForResumption(_ stored: StoredResponse, policy: CachePolicy) -> Bool {
    let control = stored.head.cacheControl
    let isForbidden = control.noStore || (control.noCache || control.mustRevalidate) && !policy.resumeTTLNoCache
    return policy.resumeTTL > 0 && stored.head.status == 200 && !stored.head.canBeValidated && !isForbidden
  }

  /// Whether a body that is kept for that reason may still be given to a client that holds a part of it: until `resume-ttl` after it was
  /// stored.
  static func answersFromStore(_ stored: StoredResponse, policy: CachePolicy, now: Int64) -> Bool {
    staysForResumption(stored, policy: policy) && now - stored.storedAt <= policy.resumeTTL
  }
}
