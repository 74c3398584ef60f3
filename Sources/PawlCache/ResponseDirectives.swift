package import PawlHTTP

/// The cache directives of a response that count: those of `CDN-Cache-Control` where it can be used, else those of
/// `Cache-Control` and `Expires` (RFC 9213 §2.2).
package struct ResponseDirectives: Hashable, Sendable {
  package var cacheControl: CacheControl
  /// Then `Cache-Control` and `Expires` are not looked at.
  package var isTargeted: Bool

  package init(cacheControl: CacheControl, isTargeted: Bool) {
    (self.cacheControl, self.isTargeted) = (cacheControl, isTargeted)
  }

  package init(_ fields: Fields) {
    if let targeted = TargetedCacheControl.parse(cdn: fields.all(.cdnCacheControl)) {
      (cacheControl, isTargeted) = (targeted, true)
    } else {
      (cacheControl, isTargeted) = (CacheControl(fields.all(.cacheControl)), false)
    }
  }

  /// Whether the origin said how long the response is fresh, if only to say: not at all.
  package func saysFreshness(_ fields: Fields) -> Bool {
    cacheControl.sMaxAge != nil || cacheControl.maxAge != nil || (!isTargeted && fields.contains(.expires))
  }

  /// Whether the origin means the response for everybody, so that a cookie in the request needs no copy of its own.
  package func meansEverybody(_ fields: Fields) -> Bool { cacheControl.isPublic || saysFreshness(fields) }
}
