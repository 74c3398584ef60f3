import PawlCache
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlStore
import PawlUpstream

/// All that a request needs to know of the route it took; made once from the configuration, shared by all loops.
final class RouteSettings: Sendable {
  enum TagMode: Sendable { case auto, origin }

  /// Its own in this process: after a reload another route may stand at the same address.
  let serial = RouteSettings.nextSerial()
  /// `files` or `files/downloads`, for the log.
  let name: String
  let upstream: Upstream
  let upstreamName: String
  /// What `Host` says where the client named none.
  let fallbackHost: [UInt8]
  let cache: CacheStore?
  let policy: CachePolicy
  let etag: TagMode
  let asksIdentity: Bool
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
  /// Where ordinary uploads are taken in before they are forwarded; `nil`: they are streamed.
  let plainSpool: PlainSpool?
  /// The value of `Strict-Transport-Security` on answers over TLS; `nil`: what the origin says.
  let strictTransport: [UInt8]?
  /// Whether origins are told the client's certificate.
  let tellsClientCertificate: Bool
  /// `max-upload`, in bytes.
  let maxUpload: UInt64?

  init(
    name: String, settings: PathSettings, upstream: Upstream, configuration: UpstreamConfiguration, cache: CacheStore?,
    spool: UploadSpools.Open? = nil
  ) {
    (self.name, self.upstream, self.cache) = (name, upstream, cache)
    upstreamName = configuration.name
    fallbackHost = Array((configuration.urls.first.map { "\($0.host):\($0.port)" } ?? "localhost").utf8)
    asksIdentity = settings.originEncoding == .identity
    policy = CachePolicy(
      defaultTTL: settings.defaultTTL.wholeSeconds, staleIfError: settings.staleIfError.wholeSeconds,
      resumeTTL: settings.resumeTTL.wholeSeconds, maxObject: settings.maxObject ?? 0,
      resumePrivate: settings.resumePrivate?.wholeSeconds, resumePrivateNoStore: settings.resumePrivateNoStore,
      asksIdentity: settings.originEncoding == .identity)
    etag = settings.etag == .auto ? .auto : .origin
    maxRanges = settings.maxRanges
    maxUnknown = settings.maxUnknown
    abandonedFill = settings.abandonedFill
    resumeAttempts = configuration.resumeAttempts
    replayLimit = configuration.replayLimit
    minRate = MinRate(bytes: settings.upload.minRate.bytes, window: settings.upload.minRate.per)
    owner = settings.owner
    authRequest = settings.upload.authRequest.map { Array($0.utf8) }
    uploads =
      settings.uploads ? spool.map { UploadRoute(settings, store: $0.store, directory: $0.settings.path) } : nil
    plainSpool = settings.upload.plainUploads == .spool ? spool?.plain : nil
    maxUpload = settings.upload.maxUpload
    strictTransport = settings.hsts.map { Array($0.field.utf8) }
    tellsClientCertificate = settings.clientCertificateField
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
