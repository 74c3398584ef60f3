import PawlBase
import PawlCache
import PawlCacheStore
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlUpstream

/// All that a request needs to know of the route it took; made once from the configuration, shared by all loops.
final class RouteSettings: Sendable {
  enum TagMode: Sendable { case auto, origin }

  /// Its own in this process: after a reload another route may stand at the same address.
  let serial = RouteSettings.nextSerial()
  /// `files` or `files/downloads`, for the log.
  let name: String
  /// As they were written.
  let settings: SiteSettings
  /// Tells settings that decide alike from others, in any process of this version of pawl.
  let fingerprint: UInt64
  private let configuration: UpstreamSection
  let upstream: Upstream
  let upstreamName: String
  /// How many URLs the upstream has.
  let nodeCount: Int
  /// What `Host` says where the client named none.
  let fallbackHost: [UInt8]
  let cache: CacheStore?
  let policy: CachePolicy
  /// Which cookies of a GET or HEAD count; `nil`: all.
  let cookies: CookieRules?
  /// `collapse = always`: who asks while a body comes of which the origin says nothing joins it.
  let collapsesAlways: Bool
  let etag: TagMode
  let asksIdentity: Bool
  let via: SiteSettings.ViaMode
  /// What pawl compresses itself; `nil`: nothing.
  let compression: RouteCompression?
  let maxRanges: Int
  let maxUnknown: UInt64
  let abandonedFill: UInt64
  let resumeAttempts: Int
  let replayLimit: Int
  let minRate: MinRate
  let owner: [OwnerRule]
  /// A path on the upstream, asked before an upload is accepted and before it is forwarded.
  let authRequest: [UInt8]?
  /// `nil`: `uploads = off`.
  let uploads: UploadRoute?
  /// No site is there any more for the uploads that this is for: what comes of them is kept, and goes nowhere.
  let isOrphan: Bool
  /// Where ordinary uploads are taken in before they are forwarded; `nil`: they are streamed.
  let plainSpool: PlainSpool?
  /// The value of `Strict-Transport-Security` on answers over TLS; `nil`: what the origin says.
  let strictTransport: [UInt8]?
  /// Whether origins are told the client's certificate.
  let tellsClientCertificate: Bool
  /// `request-buffering`.
  let buffersRequests: Bool
  /// `max-request-buffer` and `max-response-buffer`, in bytes.
  let maxRequestBuffer: UInt64
  let maxResponseBuffer: UInt64
  /// Where bytes on their way may wait outside memory; `nil`: nowhere.
  let bufferSpace: BufferSpace?
  /// `max-upload`, in bytes.
  let maxUpload: UInt64?

  /// - Parameter finished: uploads that have their URLs below this path are gone on with, whether or not new ones are
  ///   taken; `nil`: only new ones are meant.
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

  /// The same route for uploads of a spool that were made under other settings.
  convenience init(_ route: RouteSettings, finishing prefix: [UInt8], in spool: OpenSpool) {
    self.init(
      name: route.name, settings: route.settings, upstream: route.upstream, configuration: route.configuration,
      cache: route.cache, spool: spool, finished: prefix, isOrphan: route.isOrphan, buffers: route.bufferSpace)
  }

  /// For uploads that no site is there for any more.
  /// - Parameter route: any; lends what such a route must have, and nothing uses.
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
  /// Seconds, a begun one counting as whole.
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
