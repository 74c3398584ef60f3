/// What a site says, and a route may say otherwise: every key of `[site:…]` but `host`.
package struct SiteSettings: Hashable, Sendable {
  package enum EntityTags: String, Hashable, Sendable, CaseIterable { case auto, origin }
  package enum Collapse: String, Hashable, Sendable, CaseIterable { case auto, always }
  package enum OriginEncoding: String, Hashable, Sendable, CaseIterable { case identity, pass }

  package var upstream = ""
  /// Name of a cache; `nil`: off.
  package var cache: String? = "default"
  package var uploads = true
  package var spool = "default"
  /// Begins and ends with `/`.
  package var uploadPrefix = "/.pawl/uploads/"

  package var etag = EntityTags.auto
  /// Freshness when the response gives none and no heuristic applies; `nil`: not written, and none.
  package var defaultTTL: Duration?
  /// The longest that a response is taken for fresh by its age alone, zero: never; `nil`: not written.
  package var heuristicTTL: Duration?
  /// As it counts: who writes `default-ttl = 0s` wants nothing to be fresh that does not say so.
  package var heuristicLimit: Duration { heuristicTTL ?? (defaultTTL == .zero ? .zero : .seconds(24 * 3600)) }
  /// Cookies that are left out of the key, and of the requests that fill what is stored.
  package var ignoreCookies: [CookiePattern] = [.analytics]
  /// The only cookies that count.
  package var keyCookies: [CookiePattern] = [.all]
  /// How long a resumption is answered from stored bytes whose origin gave no validator.
  package var resumeTTL = Duration.seconds(3600)
  /// Also of answers that are to be validated before each use.
  package var resumeTTLNoCache = false
  /// Whether requests share a fetch whose answer may be reused without asking only, or also one of which the origin says nothing.
  package var collapse = Collapse.auto
  package var originEncoding = OriginEncoding.identity
  package var compression = CompressionSettings()
  /// For responses that do not say.
  package var staleIfError = Duration.zero
  /// The largest body kept, in bytes; `nil`: as the cache allows.
  package var maxObject: UInt64?
  /// Bytes up to which a body of unknown length is kept; then it is streamed.
  package var maxUnknown: UInt64 = 1 << 30
  /// Bytes; a fill without readers goes on if at most this remains.
  package var abandonedFill: UInt64 = 64 << 20
  /// More parts than this: the whole body.
  package var maxRanges = 16
  /// How long an uncacheable response is kept for its own user's Range requests; `nil`: off.
  package var resumePrivate: Duration?
  package var resumePrivateNoStore = false
  /// `Strict-Transport-Security` of answers over TLS; `nil`: what the origin says.
  package var hsts: StrictTransport?
  /// Whether the origin is told the client's certificate (`Client-Cert`, RFC 9440).
  package var clientCertificateField = false
  /// `off`: what goes to the origin says `CDN-Loop` (RFC 8586) in place of `Via`, so that loops are found; `on`: only what asks it for
  /// content codings does.
  package enum ViaMode: String, Hashable, Sendable, CaseIterable { case on, off, always }
  package var via = ViaMode.on
  /// Whether the origin hears of a request when its content is here; `false`: at once.
  package var requestBuffering = true
  /// Bytes of a request's content that may wait in a file for its place at the origin; 0: none.
  package var maxRequestBuffer: UInt64 = 1 << 30
  /// Bytes of an answer that nobody may keep that may wait in a file for its reader; 0: none.
  package var maxResponseBuffer: UInt64 = 1 << 30
  /// What binds a private response, or an upload, to its creator; empty: nothing.
  package var owner: [OwnerRule] = [.authorization, .clientCertificate]
  package var upload = UploadSettings()
  /// Whether anything here is written to the spool.
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
  /// Shown as it counts; `nil`: `off`.
  fileprivate var writtenHeuristicTTL: Duration? {
    get { heuristicLimit > .zero ? heuristicLimit : nil }
    set { heuristicTTL = newValue ?? .zero }
  }
}

/// Names of cookies.
package enum CookiePattern: Hashable, Sendable, CustomStringConvertible {
  case all
  /// Those of web analytics that are known not to change content.
  case analytics
  /// With `*` for any number of bytes.
  case named(String)

  package var description: String {
    switch self {
    case .all: "all"
    case .analytics: "analytics"
    case .named(let pattern): pattern
    }
  }
}

/// One way to tell who a request comes from.
package enum OwnerRule: Hashable, Sendable, CustomStringConvertible {
  case authorization
  case clientCertificate
  case cookie(name: String)
  /// A field of the answer to `auth-request`.
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
