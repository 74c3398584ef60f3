import PawlBase
import PawlCache
import PawlCacheStore
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpstream

/// The settings of a route. Made once from the configuration, shared by all loops.
final class RouteSettings: Sendable {
  enum TagMode: Sendable { case auto, origin }

  /// A number that is unique in this process: after a reload another route may have the same memory address.
  let serial = RouteSettings.nextSerial()
  /// The name for the log: `files` or `files/downloads`, for instance.
  let name: String
  /// The settings as configured.
  let settings: SiteSettings
  /// A hash of the settings, the same in any process of this version of pawl: equal settings lead to equal decisions.
  let fingerprint: UInt64
  private let configuration: UpstreamSection
  let upstream: Upstream
  let upstreamName: String
  /// The number of URLs of the upstream.
  let nodeCount: Int
  /// The value of `Host` for the origin where the client sent none.
  let fallbackHost: [UInt8]
  let cache: CacheStore?
  let policy: CachePolicy
  /// The rules that decide which cookies of a GET or HEAD count; `nil`: all cookies count.
  let cookies: CookieRules?
  /// `collapse = always`: a request joins a running fetch even if the origin's response says nothing about reuse.
  let collapsesAlways: Bool
  let etag: TagMode
  let asksIdentity: Bool
  let via: SiteSettings.ViaMode
  /// The compression that pawl applies itself; `nil`: none.
  let compression: RouteCompression?
  let maxRanges: Int
  let maxUnknown: UInt64
  let abandonedFill: UInt64
  let resumeAttempts: Int
  let replayLimit: Int
  let minRate: MinRate
  let owner: [OwnerRule]
  /// `auth-request`: a path on the upstream that is requested before an upload is accepted, and again before it is forwarded.
  let authRequest: [UInt8]?
  /// `nil`: `uploads = off`.
  let uploads: UploadRoute?
  /// Whether the uploads of this route have no site any more: their bytes are kept, but not delivered.
  let isOrphan: Bool
  /// The spool for ordinary uploads that are stored before they are forwarded; `nil`: ordinary uploads are streamed.
  let plainSpool: PlainSpool?
  /// The value of `Strict-Transport-Security` in responses over TLS; `nil`: the origin's value is forwarded.
  let strictTransport: [UInt8]?
  /// Whether the origin gets the client's certificate (`Client-Cert`).
  let tellsClientCertificate: Bool
  /// `request-buffering`.
  let buffersRequests: Bool
  /// `max-request-buffer` and `max-response-buffer`, in bytes.
  let maxRequestBuffer: UInt64
  let maxResponseBuffer: UInt64
  /// The space on disk for waiting content; `nil`: content waits in memory only.
  let bufferSpace: BufferSpace?
  /// `max-upload`, in bytes.
  let maxUpload: UInt64?

  /// Makes a route.
  /// - Parameter finished: the path of the upload URLs of a route that only continues existing uploads, and works even if the
  ///   settings allow no uploads; `nil`: an ordinary route.
  init(
    name: String, settings: SiteSettings, upstream: Upstream, configuration: UpstreamSection, cache: CacheStore?,
    spool: OpenSpool? = nil, finished: [UInt8]? = nil, isOrphan: Bool = false, buffers: BufferSpace? = nil
  ) {
    (buffersRequests, bufferSpace) = (settings.requestBuffering, spool?.buffers ?? buffers)
    (maxRequestBuffer, maxResponseBuffer) = (settings.maxRequestBuffer, settings.maxResponseBuffer)
    (self.name, self.upstream, self.cache) = (name, upstream, cache)
    (self.settings, self.configuration, self.isOrphan) = (settings, configuration, isOrphan)
    fingerprint = Fingerprint.of("\(HotAnswer.version) \(settings)")
    nodeCount = upstream.settings.urls.count
    upstreamName = isOrphan ? "-" : configuration.name
    fallbackHost = Array((configuration.urls.first.map { "\($0.host):\($0.port)" } ?? "localhost").utf8)
    asksIdentity = settings.originEncoding == .identity
    (via, compression) = (settings.via, RouteCompression(settings))
    policy = CachePolicy(
      defaultTTL: settings.defaultTTL?.wholeSeconds ?? 0, heuristicTTL: settings.heuristicLimit.wholeSeconds,
      staleIfError: settings.staleIfError.wholeSeconds,
      resumeTTL: settings.resumeTTL.wholeSeconds, resumeTTLNoCache: settings.resumeTTLNoCache,
      maxObject: settings.maxObject ?? 0,
      resumePrivate: settings.resumePrivate?.wholeSeconds, resumePrivateNoStore: settings.resumePrivateNoStore,
      asksIdentity: settings.originEncoding == .identity)
    cookies = CookieRules(settings)
    collapsesAlways = settings.collapse == .always
    etag = settings.etag == .auto ? .auto : .origin
    maxRanges = settings.maxRanges
    maxUnknown = settings.maxUnknown
    abandonedFill = settings.abandonedFill
    resumeAttempts = configuration.resumeAttempts
    replayLimit = configuration.replayLimit
    minRate = MinRate(bytes: settings.upload.minRate.bytes, window: settings.upload.minRate.per)
    owner = settings.owner
    authRequest = settings.upload.authRequest.map { Array($0.utf8) }
    let takesUploads = settings.uploads || finished != nil
    uploads = (takesUploads ? spool : nil).map {
      UploadRoute(settings, store: $0.store, directory: $0.settings.path, prefix: finished)
    }
    plainSpool = settings.upload.plainUploads == .spool ? spool?.plain : nil
    maxUpload = settings.upload.maxUpload
    strictTransport = settings.hsts.map { Array($0.field.utf8) }
    tellsClientCertificate = settings.clientCertificateField
  }

  /// Makes a copy of a route, for uploads of a spool that were created under other settings.
  convenience init(_ route: RouteSettings, finishing prefix: [UInt8], in spool: OpenSpool) {
    self.init(
      name: route.name, settings: route.settings, upstream: route.upstream, configuration: route.configuration,
      cache: route.cache, spool: spool, finished: prefix, isOrphan: route.isOrphan, buffers: route.bufferSpace)
  }

  /// Makes the route for uploads whose site does not exist any more.
  /// - Parameter route: any route; lends the values that a route must have and that are not used here.
  convenience init(orphansOf spool: OpenSpool, below prefix: [UInt8], lending route: RouteSettings) {
    self.init(
      name: "-", settings: SiteSettings(), upstream: route.upstream, configuration: route.configuration, cache: nil,
      spool: spool, finished: prefix, isOrphan: true)
  }

  private static let serials = Locked(0)

  private static func nextSerial() -> Int {
    serials.withLock { last in
      last += 1
      return last
    }
  }
}

extension Duration {
  /// The duration in seconds, rounded up.
  var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

extension CookieRules {
  /// `nil`: all cookies count.
  fileprivate init?(_ settings: SiteSettings) {
    let ignored = Self.globs(settings.ignoreCookies)
    if ignored.isEmpty, settings.keyCookies.contains(.all) { return nil }
    self.init(keyed: Self.globs(settings.keyCookies), ignored: ignored)
  }

  private static func globs(_ patterns: [CookiePattern]) -> [CookieGlob] {
    patterns.flatMap { pattern in
      switch pattern {
      case .all: [CookieGlob("*")]
      case .analytics: AnalyticsCookies.globs
      case .named(let name): [CookieGlob(name)]
      }
    }
  }
}
