/// What the configuration of a route says about keeping responses. Times are seconds, sizes bytes.
package struct CachePolicy: Hashable, Sendable {
  /// `default-ttl`: freshness of responses that give none, where no heuristic applies.
  package var defaultTTL: Int64
  /// `heuristic-ttl`: the longest that a response is taken for fresh by its age alone; 0 = never.
  package var heuristicTTL: Int64
  /// `stale-if-error`: for responses that do not say.
  package var staleIfError: Int64
  /// `resume-ttl`: how long stale bytes are good for those who hold the first part of them.
  package var resumeTTL: Int64
  /// `resume-ttl-no-cache`: also those that are to be validated before each use, and can not be.
  package var resumeTTLNoCache: Bool
  /// `max-object`: the largest body kept; 0 = as the cache allows.
  package var maxObject: UInt64
  /// `resume-private`: how long an uncacheable response is kept for its own user; `nil` = off.
  package var resumePrivate: Int64?
  /// `resume-private-no-store`: `no-store` responses too.
  package var resumePrivateNoStore: Bool
  /// Whether the request to the origin asks for identity whatever the client accepts (`origin-encoding`, and every
  /// request with `Range`). `Accept-Encoding` then chooses nothing.
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
