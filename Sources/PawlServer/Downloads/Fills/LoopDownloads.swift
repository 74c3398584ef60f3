import PawlCacheStore
import PawlLoop
import PawlObserve
import PawlUpstream

/// What runs on a loop for a download until it ends by itself, or with the loop.
protocol DownloadJob: AnyObject {
  /// It ends now; what was fetched stays.
  func stop()
}

/// What downloads keep for one loop: what is being fetched, filled and compared there. Touched on that loop only.
final class LoopDownloads {
  let services: LoopServices
  let loop: EventLoop
  /// Fills that nobody reads, of all loops.
  let abandoned: AbandonedFillLimiter
  var fills: [ObjectIdentifier: Fill] = [:]
  var fetches: [ObjectIdentifier: any DownloadJob] = [:]
  var comparisons: [ObjectIdentifier: any DownloadJob] = [:]
  /// Comparisons of what is here with what is here: they end with their bodies.
  var twins: [ObjectIdentifier: TwinComparison] = [:]
  let gathering = GatheringBodies()
  @exclusivity(unchecked) private var uncollapsed = UncollapsedResources()

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }

  init(_ services: LoopServices, abandoned: AbandonedFillLimiter) {
    (self.services, loop, self.abandoned) = (services, services.loop, abandoned)
  }

  /// Requests for this resource do not wait for each other for a while; so long it stays in the index.
  func uncollapse(_ resource: Resource, in store: CacheStore) { uncollapsed.mark(resource, in: store, at: loop.now) }

  /// An exchange is done with a resource: one that holds nothing, and bears no mark, leaves the index.
  func letGo(of resource: Resource, in store: CacheStore) { uncollapsed.letGo(of: resource, in: store, at: loop.now) }

  /// What runs ends; what was fetched stays.
  func stop() {
    for fetch in Array(fetches.values) { fetch.stop() }
    for fill in Array(fills.values) { fill.stop() }
    for comparison in Array(comparisons.values) { comparison.stop() }
    gathering.stop()
  }
}
