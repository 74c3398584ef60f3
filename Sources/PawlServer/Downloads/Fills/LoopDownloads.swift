import PawlCacheStore
import PawlLoop
import PawlObserve
import PawlUpstream

/// A job on a loop for a download. It runs until it ends by itself, or the loop ends.
protocol DownloadJob: AnyObject {
  /// Ends the job now; what was fetched stays.
  func stop()
}

/// The downloads of one loop: the fetches, fills and comparisons that run there. Used on that loop only.
final class LoopDownloads {
  let services: LoopServices
  let loop: EventLoop
  /// The fills without readers, of all loops.
  let abandoned: AbandonedFillLimiter
  var fills: [ObjectIdentifier: Fill] = [:]
  var fetches: [ObjectIdentifier: any DownloadJob] = [:]
  var comparisons: [ObjectIdentifier: any DownloadJob] = [:]
  /// The comparisons of new bodies with the bodies that they replace. A comparison ends by itself when the fill of its new body ends.
  var twins: [ObjectIdentifier: TwinComparison] = [:]
  let gathering = GatheringBodies()
  @exclusivity(unchecked) private var uncollapsed = HitForMissResources()

  var events: EventLog { services.events }
  var pool: WorkerPool { services.pool }

  init(_ services: LoopServices, abandoned: AbandonedFillLimiter) {
    (self.services, loop, self.abandoned) = (services, services.loop, abandoned)
  }

  /// Marks a resource as uncacheable (hit-for-miss): for a while requests for it do not wait for each other, and it stays in the index.
  func uncollapse(_ resource: Resource, in store: CacheStore) { uncollapsed.mark(resource, in: store, at: loop.now) }

  /// Notes that an exchange is done with a resource. If nothing is stored under the resource, and it has no mark, it leaves the index.
  func letGo(of resource: Resource, in store: CacheStore) { uncollapsed.letGo(of: resource, in: store, at: loop.now) }

  /// Ends everything that runs; what was fetched stays.
  func stop() {
    for fetch in Array(fetches.values) { fetch.stop() }
    for fill in Array(fills.values) { fill.stop() }
    for comparison in Array(comparisons.values) { comparison.stop() }
    gathering.stop()
  }
}
