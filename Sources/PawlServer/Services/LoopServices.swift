import CLinux
import PawlBase
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// The services of one event loop: the loop with its clock, the settings in force, events, pools for blocking work, connections
/// to origins, request identifiers. This object refers to none of its users. Touched on that loop only.
final class LoopServices {
  /// Bytes read at a time while transfers hold more memory than the limits allow.
  static let scarceRead = 16 << 10

  let loop: EventLoop
  let shared: SharedServices
  let counters: LoopCounters
  /// How many transfers of this loop were ever listed; the number of the last one.
  var transferCount: UInt32 = 0
  /// The settings in force; a reload replaces them (``use(_:keeping:)``).
  var router: Router
  /// Whether `log-level = debug` writes a line for each request. Not for requests to the admin interface.
  var explainsRequests = true
  /// `nil`: `access-log = off`. A reload may replace it.
  var accessLog: AccessLog?
  /// Whether the loop drains or ends: no new background work begins.
  var isEnding = false
  /// Whether a new binary takes over: this process answers what it has accepted, and stores nothing more.
  var isHandingOver = false
  /// Whether the process that took over has ended, so that no step of a delivery can be recorded (``LentDeliveries``).
  var hasLostDeliveries = false
  private var pools: [ObjectIdentifier: OriginPool] = [:]
  private var lastPool: OriginPool?
  private var slowWrites = SlowWrites()
  var spillPace = SpillPace()
  @exclusivity(unchecked) var memory = LoopMemory()
  @exclusivity(unchecked) var requestIDs = RequestIDs()
  /// The buffer for records at rest: small responses that are read from a pack and sent without being loaded into the index.
  let room = PackRoom()
  private var dateSecond: Int64 = -1
  private var dateBytes: [UInt8] = []
  private var reminders: [ObjectIdentifier: LoopTimer] = [:]

  var events: EventLog { shared.events }
  var pool: WorkerPool { shared.workers }

  init(loop: EventLoop, shared: SharedServices, router: Router) {
    (self.loop, self.shared, self.router) = (loop, shared, router)
    accessLog = shared.accessLog
    counters = loop.counters
  }

  /// Uses another router from now on, and closes the idle connections to upstreams that are not among its own.
  func use(_ router: Router, keeping upstreams: Set<ObjectIdentifier>) {
    self.router = router
    lastPool = nil
    // Exchanges that run keep their pools.
    for (upstream, pool) in pools where !upstreams.contains(upstream) {
      pool.closeIdle()
      pools[upstream] = nil
    }
  }

  // MARK: - Origins

  func pool(for upstream: Upstream) -> OriginPool {
    if let lastPool, lastPool.upstream === upstream { return lastPool }
    let pool = pools[ObjectIdentifier(upstream)] ?? makePool(upstream)
    pools[ObjectIdentifier(upstream)] = pool
    lastPool = pool
    return pool
  }

  private func makePool(_ upstream: Upstream) -> OriginPool {
    let counters = shared.metrics.counters(ofUpstream: upstream.settings.name, loop: loop.index)
    return OriginPool(upstream: upstream, loop: loop, counters: counters)
  }

  /// What the loop counts for this upstream.
  func counters(of upstream: Upstream) -> UpstreamCounters { pool(for: upstream).counters }

  /// Closes idle connections to origins.
  func closeIdle() { for pool in pools.values { pool.closeIdle() } }

  // MARK: - Slow disks

  /// Whether content has to be written in the pool instead of on the loop.
  var expectsSlowWrites: Bool { slowWrites.areExpected(at: loop.now) }
  /// Notes how long a write took, on the loop or in the pool.
  func noteWrite(_ took: Duration) { slowWrites.note(took, at: loop.now) }

  // MARK: - Time

  /// The present time as the value of `Date` (RFC 9110 §6.6.1).
  var dateField: [UInt8] {
    let now = loop.wallSeconds
    if now != dateSecond { (dateSecond, dateBytes) = (now, HTTPDate.format(now)) }
    return dateBytes
  }

  /// Performs `action` once, unless ``forgetReminders()`` is called earlier.
  func perform(after delay: Duration, _ action: @escaping () -> Void) {
    var id: ObjectIdentifier?
    let timer = loop.makeTimer { [weak self] in
      action()
      if let id { self?.reminders.removeValue(forKey: id)?.close() }
    }
    id = ObjectIdentifier(timer)
    reminders[ObjectIdentifier(timer)] = timer
    timer.schedule(after: delay)
  }

  func forgetReminders() {
    for timer in reminders.values { timer.close() }
    reminders = [:]
  }

  // MARK: - Memory

  /// Notes that a transfer has begun to hold more memory than the limits allow, or has ceased to do so. While there is such a
  /// transfer, the loop reads little at a time.
  /// - Parameter change: 1 or -1.
  func noteDenied(_ change: Int) {
    memory.deniedCount += change
    loop.readLimit = memory.deniedCount > 0 ? Self.scarceRead : EventLoop.readBufferSize
  }

  /// Returns free memory of the allocator to the system, after a delay, because more memory becomes free in that time.
  func trimMemory() {
    guard !memory.trims else { return memory.trimsAgain = true }
    guard !isEnding else { return }
    memory.trims = true
    perform(after: BufferMemory.trimDelay) { [unowned self] in
      memory.trimsAgain = false
      pool.run { _ = malloc_trim(0) }
      perform(after: BufferMemory.trimPause) { [unowned self] in
        memory.trims = false
        if memory.trimsAgain { trimMemory() }
      }
    }
  }

  /// Returns a target or URL as it may be logged: without the secret token of an upload.
  func shown(_ text: Bytes) -> Bytes { router.urls.redacted(text).map { $0[...] } ?? text }
}
