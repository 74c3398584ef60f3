import CLinux
import PawlBase
import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// What one event loop offers to whatever lives on it: the loop with its clock, the settings in force, events, threads for
/// what blocks, connections to origins, request identifiers. It knows nobody who uses it. Touched on that loop only.
final class LoopServices {
  /// Bytes read at a time while transfers hold more memory than there is room for.
  static let scarceRead = 16 << 10

  let loop: EventLoop
  let shared: SharedServices
  /// The settings in force; a reload brings others.
  var router: Router
  /// Nothing new begins that nobody has asked for.
  var isEnding = false
  private var pools: [ObjectIdentifier: OriginPool] = [:]
  private var lastPool: OriginPool?
  private var slowWrites = SlowWrites()
  var spillPace = SpillPace()
  @exclusivity(unchecked) var memory = LoopMemory()
  @exclusivity(unchecked) var requestIDs = RequestIDs()
  /// For records that are given as they are read.
  let room = PackRoom()
  private var dateSecond: Int64 = -1
  private var dateBytes: [UInt8] = []
  private var reminders: [ObjectIdentifier: LoopTimer] = [:]

  var events: EventLog { shared.events }
  var pool: WorkerPool { shared.workers }

  init(loop: EventLoop, shared: SharedServices, router: Router) {
    (self.loop, self.shared, self.router) = (loop, shared, router)
  }

  // MARK: - Origins

  func pool(for upstream: Upstream) -> OriginPool {
    if let lastPool, lastPool.upstream === upstream { return lastPool }
    let pool = pools[ObjectIdentifier(upstream)] ?? OriginPool(upstream: upstream, loop: loop)
    pools[ObjectIdentifier(upstream)] = pool
    lastPool = pool
    return pool
  }

  /// Connections to origins that nobody uses are closed.
  func closeIdle() { for pool in pools.values { pool.closeIdle() } }

  // MARK: - Slow disks

  /// Whether content is to be written in the pool.
  var expectsSlowWrites: Bool { slowWrites.areExpected(at: loop.now) }
  /// The system kept a thread so long for a write, wherever it was.
  func noteWrite(_ took: Duration) { slowWrites.note(took, at: loop.now) }

  // MARK: - Time

  /// Now, as `Date` says it (RFC 9110 §6.6.1).
  var dateField: [UInt8] {
    let now = loop.wallSeconds
    if now != dateSecond { (dateSecond, dateBytes) = (now, HTTPDate.format(now)) }
    return dateBytes
  }

  /// Performs `action` once, unless ``forgetReminders()`` is called before.
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

  /// One more transfer holds more than there was room for, or one less: as long as any does, the loop reads little at a time.
  func noteDenied(_ change: Int) {
    memory.deniedCount += change
    loop.readLimit = memory.deniedCount > 0 ? Self.scarceRead : EventLoop.readBufferSize
  }

  /// What the allocator keeps between what is used goes back to the system, in a moment: more is free by then.
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

  /// A target or URL for a log: without the secret of an upload's.
  func shown(_ text: Bytes) -> Bytes { router.urls.redacted(text).map { $0[...] } ?? text }
}
