/// The settings of a site, which a route may override: every key of `[site:…]` except `host`.
package struct SiteSettings: Hashable, Sendable {
  package enum EntityTags: String, Hashable, Sendable, CaseIterable { case auto, origin }
  package enum Collapse: String, Hashable, Sendable, CaseIterable { case auto, always }
  package enum OriginEncoding: String, Hashable, Sendable, CaseIterable { case identity, pass }

  package var upstream = ""
  /// The name of a cache; `nil`: no cache.
  package var cache: String? = "default"
  package var uploads = true
  package var spool = "default"
  /// The path below which upload resources are; begins and ends with `/`.
  package var uploadPrefix = "/.pawl/uploads/"

  package var etag = EntityTags.auto
  /// The freshness lifetime of a response that does not state one, if no heuristic applies; `nil`: the key is not written, and
  /// such a response has no lifetime.
  package var defaultTTL: Duration?
  /// The longest heuristic freshness lifetime (RFC 9111 §4.2.2); zero: no heuristic; `nil`: the key is not written.
  package var heuristicTTL: Duration?
  /// The heuristic limit in effect. With `default-ttl = 0s` this limit is zero, so only responses with an explicit lifetime are
  /// fresh.
  package var heuristicLimit: Duration { heuristicTTL ?? (defaultTTL == .zero ? .zero : .seconds(24 * 3600)) }
  /// Cookies that are not part of the cache key, and are removed from requests that fill the cache.
  package var ignoreCookies: [CookiePattern] = [.analytics]
  /// The only cookies that are part of the cache key. Other cookies are removed from requests as with ``ignoreCookies``.
  package var keyCookies: [CookiePattern] = [.all]
  /// How long pawl may complete a download from stored bytes without asking the origin, if pawl made up the entity tag (a minted
  /// tag) because the origin has no validator.
  package var resumeTTL = Duration.seconds(3600)
  /// Whether ``resumeTTL`` also applies to responses that have to be validated before each use (`no-cache`).
  package var resumeTTLNoCache = false
  /// Which requests are collapsed, that is, share one request to the origin. `auto`: requests whose response may be reused
  /// without validation. `always`: also requests whose response has no cache directives of the origin.
  package var collapse = Collapse.auto
  package var originEncoding = OriginEncoding.identity
  package var compression = CompressionSettings()
  /// The `stale-if-error` time of responses that do not have this directive.
  package var staleIfError = Duration.zero
  /// The largest body that is stored, in bytes; `nil`: only the size of the cache limits it.
  package var maxObject: UInt64?
  /// The most bytes that are stored of a body of unknown length. The rest of a longer body is passed on without being stored.
  package var maxUnknown: UInt64 = 1 << 30
  /// A fill without readers goes on if at most this many bytes are missing. Config/README.md lists the other reasons to go on.
  package var abandonedFill: UInt64 = 64 << 20
  /// The most ranges in a response; a request for more ranges gets the complete body.
  package var maxRanges = 16
  /// How long an uncacheable response is kept for Range requests of the user who got it; `nil`: the response is not kept.
  package var resumePrivate: Duration?
  package var resumePrivateNoStore = false
  /// The `Strict-Transport-Security` field of responses over TLS; `nil`: as the origin sends it.
  package var hsts: StrictTransport?
  /// Whether requests to the origin have the client's certificate (`Client-Cert`, RFC 9440).
  package var clientCertificateField = false
  /// Whether requests to the origin have the field `Via`, or `CDN-Loop` (RFC 8586) instead. pawl finds loops by either field.
  /// nginx and other servers do not compress responses to requests with `Via`. `on`: `CDN-Loop` in requests that ask for content
  /// codings, `Via` in all others. `off`: `CDN-Loop` in all requests. `always`: `Via` in all requests.
  package enum ViaMode: String, Hashable, Sendable, CaseIterable { case on, off, always }
  package var via = ViaMode.on
  /// Whether a request is sent to the origin only after its content has arrived or is arriving fast; `false`: it is sent at once.
  package var requestBuffering = true
  /// The most bytes of a request's content that may wait in a file for a connection to the origin; 0: none.
  package var maxRequestBuffer: UInt64 = 1 << 30
  /// The most bytes of an uncacheable response that may wait in a file for a slow client; 0: none.
  package var maxResponseBuffer: UInt64 = 1 << 30
  /// The rules that identify the owner (the user) of a private response or an upload; empty: no rule.
  package var owner: [OwnerRule] = [.authorization, .clientCertificate]
  package var upload = UploadSettings()
  /// Whether this site or route writes to the spool.
  package var usesSpool: Bool { uploads || upload.plainUploads == .spool }

  package init(upstream: String = "") { self.upstream = upstream }

  static var keys: [Key<SiteSettings>] {
    [
      .scalar("upstream", \.upstream, .name, isRequired: true),
      .scalar("cache", \.cache, .optional(.name, word: "off")),
      .scalar("uploads", \.uploads, .boolean),
      .scalar("spool", \.spool, .name),
      .scalar("upload-prefix", \.uploadPrefix, .uploadPrefix),
      .scalar("etag", \.etag, .choice()),
      .scalar("default-ttl", \.defaultTTL, .defaulted(.time, shown: "0s")),
      .scalar("heuristic-ttl", \.writtenHeuristicTTL, .optional(.time, word: "off")),
      .scalar("resume-ttl", \.resumeTTL, .time),
      .scalar("resume-ttl-no-cache", \.resumeTTLNoCache, .boolean),
      .list("ignore-cookies", \.ignoreCookies, .cookiePattern, empty: "none", commas: true),
      .list("key-cookies", \.keyCookies, .cookiePattern, empty: "none", commas: true),
      .scalar("collapse", \.collapse, .choice()),
      .scalar("origin-encoding", \.originEncoding, .choice()),
      .scalar("stale-if-error", \.staleIfError, .time),
      .scalar("max-object", \.maxObject, .optional(.size(1...(1 << 62)), word: "0")),
      .scalar("max-unknown", \.maxUnknown, .size()),
      .scalar("abandoned-fill", \.abandonedFill, .size()),
      .scalar("max-ranges", \.maxRanges, .count(1...1000)),
      .scalar("resume-private", \.resumePrivate, .optional(.positiveTime, word: "off")),
      .scalar("resume-private-no-store", \.resumePrivateNoStore, .boolean),
      .scalar("hsts", \.hsts, .optional(.strictTransport, word: "off")),
      .scalar("client-certificate-field", \.clientCertificateField, .boolean),
      .scalar("via", \.via, .choice()),
      .scalar("request-buffering", \.requestBuffering, .boolean),
      .scalar("max-request-buffer", \.maxRequestBuffer, .size()),
      .scalar("max-response-buffer", \.maxResponseBuffer, .size()),
    ] + CompressionSettings.keys.map { $0.lifted(through: \.compression) }
      + UploadSettings.keys.map { $0.lifted(through: \.upload) } + [
        .list("owner", \.owner, .ownerRule, empty: "none", commas: true)
      ]
  }
}

extension SiteSettings {
  /// The heuristic limit in effect, for `pawl config`; `nil` is shown as `off`.
  fileprivate var writtenHeuristicTTL: Duration? {
    get { heuristicLimit > .zero ? heuristicLimit : nil }
    set { heuristicTTL = newValue ?? .zero }
  }
}

/// Names of cookies.
package enum CookiePattern: Hashable, Sendable, CustomStringConvertible {
  case all
  /// The cookies of web analytics that are known not to change content.
  case analytics
  /// A name, in which `*` stands for any number of bytes.
  case named(String)

  package var description: String {
    switch self {
    case .all: "all"
    case .analytics: "analytics"
    case .named(let pattern): pattern
    }
  }
}

/// One way to identify the user whom a request comes from.
package enum OwnerRule: Hashable, Sendable, CustomStringConvertible {
  case authorization
  case clientCertificate
  case cookie(name: String)
  /// A field of the response to the `auth-request`.
  case authRequest(field: String)

  package var description: String {
    switch self {
    case .authorization: "authorization"
    case .clientCertificate: "client-certificate"
    case .cookie(let name): "cookie:\(name)"
    case .authRequest(let field): "auth-request:\(field)"
    }
  }
}
