import PawlConfig
import PawlLoop

/// What the admin interface shows of the server. Any thread.
extension Server {
  /// - Parameter startedAt: when the process began to serve, seconds since 1970.
  func picture(startedAt: Int64) -> ServerPicture {
    let parts = parts.withLock { $0 }
    var picture = ServerPicture(configuration: configuration, startedAt: startedAt)
    picture.urls = urls
    picture.loopCount = loops.count
    (picture.openConnections, picture.maxConnections) = (admission.openCount, admission.settings.limit)
    picture.origins = parts.upstreams.values.map { ServerPicture.Origin(section: $0.settings, upstream: $0.upstream) }
      .sorted { $0.section.name < $1.section.name }
    picture.caches = parts.stores.map { (name: $0.key, store: $0.value) }.sorted { $0.name < $1.name }
    picture.spools = parts.spools.all
    picture.certificates = certificates.served
    return picture
  }
}
