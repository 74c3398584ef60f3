/// The settings of a route about storing responses. Times are in seconds, sizes in bytes.
package struct CachePolicy: Hashable, Sendable {
  /// `default-ttl`: the lifetime of responses that give none, where no heuristic applies.
  package var defaultTTL: Int64
  /// `heuristic-ttl`: the longest heuristic freshness, which is derived from `Last-Modified`; 0 = never.
  package var heuristicTTL: Int64
  /// `stale-if-error`: how long a stale response may replace an error, for responses without that directive.
  package var staleIfError: Int64
  /// `resume-ttl`: how long stale bytes may complete the download of a client that holds the first part of them.
  package var resumeTTL: Int64
  /// `resume-ttl-no-cache`: whether `resume-ttl` also applies to responses that must be revalidated before each use and have no
  /// validator.
  package var resumeTTLNoCache: Bool
  /// `max-object`: the largest body that is stored; 0 = only the size of the cache is a limit.
  package var maxObject: UInt64
  /// `resume-private`: how long an uncacheable response is kept for its own user; `nil` = off.
  package var resumePrivate: Int64?
  /// `resume-private-no-store`: whether `resume-private` includes `no-store` responses.
  package var resumePrivateNoStore: Bool
  /// Whether the request to the origin has `Accept-Encoding: identity`, whatever the client accepts (`origin-encoding`, and every
  /// request with `Range`). Then no response is selected by the client's `Accept-Encoding`.
  package var asksIdentity: Bool

  package init(
    defaultTTL: Int64 = 0, heuristicTTL: Int64 = 24 * 3600, staleIfError: Int64 = 0, resumeTTL: Int64 = 3600,
    resumeTTLNoCache: Bool = false, maxObject: UInt64 = 0, resumePrivate: Int64? = nil,
    resumePrivateNoStore: Bool = false, asksIdentity: Bool = true
  ) {
    (self.defaultTTL, self.heuristicTTL) = (defaultTTL, heuristicTTL)
    (self.staleIfError, self.resumeTTL, self.resumeTTLNoCache) = (staleIfError, resumeTTL, resumeTTLNoCache)
    (self.maxObject, self.asksIdentity) = (maxObject, asksIdentity)
    (self.resumePrivate, self.resumePrivateNoStore) = (resumePrivate, resumePrivateNoStore)
  }
}
