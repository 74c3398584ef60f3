import CLinux
import PawlLoop
import PawlTLS

/// Where a run's connections go.
struct ServerPlace: Sendable {
  var address: SocketAddress
  var tls: TLSClientContext?
}

/// One thread of the load: its loop, its connections and what they counted. On its loop only.
final class Worker {
  let loop: EventLoop
  let index: Int
  let settings: RunSettings
  let server: ServerPlace
  let reference: Reference?
  let body: UploadBody?
  /// What all connections read into, one at a time.
  let buffer: UnsafeMutableBufferPointer<UInt8>
  var tally = Tally()
  /// When the callback at hand began, in nanoseconds.
  private(set) var now: UInt64 = 0
  var random: RandomNumbers
  /// Why the last connection did not come about; for the terminal.
  var trouble: String?

  private var lanes: [Lane] = []
  private var transports: [any Transport] = []
  private var pacer: Pacer?
  private var timer: PreciseTimer?
  private var sweeper: LoopTimer?
  private var idle = IdleLanes()
  /// Operations that may still begin; `nil`: without limit.
  private var left: UInt64?
  private var isRunning = false
  /// Operations at once; fewer than there are lanes where all of them would flood the server's backlog.
  private let busyLimit: Int
  private var busyCount = 0
  /// Told once when all operations there were to be are over.
  private let exhausted: () -> Void

  static let bufferSize = 256 << 10

  init(
    _ loop: EventLoop, index: Int, settings: RunSettings, server: ServerPlace, reference: Reference?,
    body: UploadBody?, exhausted: @escaping () -> Void
  ) {
    (self.loop, self.index, self.settings, self.server) = (loop, index, settings, server)
    (self.reference, self.body, self.exhausted) = (reference, body, exhausted)
    busyLimit = settings.scenario == .idle ? 128 : .max
    buffer = .allocate(capacity: Self.bufferSize)
    random = RandomNumbers(seed: settings.seed, stream: UInt64(truncatingIfNeeded: index))
    tick()
  }

  deinit { buffer.deallocate() }

  /// Asks the clock.
  func tick() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    now = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  // MARK: The coordinator's orders

  func add(_ lanes: [Lane], _ transports: [any Transport]) {
    self.lanes += lanes
    self.transports += transports
  }

  /// Begins the load. `operations`: as many as there are to be; `start`: when the first is due in an open loop.
  func start(operations: UInt64?, at start: UInt64) throws(LoopError) {
    tick()
    (left, isRunning) = (operations, true)
    let sweeper = loop.makeTimer { [unowned self] in sweep() }
    self.sweeper = sweeper
    sweeper.schedule(after: Self.sweepInterval)
    for lane in lanes { idle.push(lane) }
    guard let rate = settings.rate else { return fill() }
    pacer = Pacer(rate: rate, start: start, worker: index, workers: settings.threads)
    let interval = Duration.nanoseconds(Int64(max(10_000, 1e9 / rate * Double(settings.threads))))
    timer = try PreciseTimer(loop, start: Monotonic(nanoseconds: start), every: interval) { [unowned self] in
      tick()
      fill()
    }
  }

  /// From now on it counts; what was counted before is dropped. Operations under way count when they end.
  func beginMeasurement(operations: UInt64?) {
    tally = Tally()
    left = operations
    tick()
    fill()
  }

  /// What was counted since the last call.
  func takeTally() -> Tally {
    var taken = Tally()
    swap(&taken, &tally)
    return taken
  }

  /// Breaks off everything.
  func stop() {
    isRunning = false
    tick()
    if let pacer { tally.backlog = pacer.waiting(at: now) }
    timer?.close()
    sweeper?.close()
    for lane in lanes {
      lane.transport?.cut(lane)
      lane.detach()
    }
    lanes = []
    transports = []
    idle = IdleLanes()
  }

  // MARK: Going round

  /// Gives work to idle lanes: all that is due, or all there is.
  private func fill() {
    while isRunning, left != 0, busyCount < busyLimit, !idle.isEmpty {
      var due = now
      if pacer != nil {
        guard let time = pacer?.take(at: now) else { return }
        due = time
      }
      guard let lane = idle.pop() else { return }
      begin(lane, due)
    }
  }

  private func begin(_ lane: Lane, _ due: UInt64) {
    if let left { self.left = left - 1 }
    busyCount += 1
    guard !lane.begin(due: due) else { return }
    // The script waits for others and says when it goes on.
    busyCount -= 1
    if let left { self.left = left + 1 }
  }

  /// A lane whose script had to wait can begin.
  func proceed(_ lane: Lane) {
    idle.push(lane)
    fill()
  }

  func finished(_ lane: Lane, _ failure: Failure?) {
    busyCount -= 1
    guard isRunning else { return }
    if left == 0 {
      idle.push(lane)
      if busyCount == 0 { exhausted() }
      return
    }
    switch failure {
    // Nobody is there: no use in asking a million times a second.
    case .connect, .handshake: rest(lane)
    case _ where pacer == nil && idle.isEmpty: begin(lane, now)
    case _:
      idle.push(lane)
      fill()
    }
  }

  private static let restInterval = Duration.milliseconds(50)
  private var resting: [(timer: LoopTimer, lane: Lane)] = []

  private func rest(_ lane: Lane) {
    let timer = loop.makeTimer { [unowned self] in
      tick()
      resting.removeAll { $0.lane === lane }
      guard isRunning else { return }
      proceed(lane)
    }
    resting.append((timer, lane))
    timer.schedule(after: Self.restInterval)
  }

  // MARK: Patience

  private static let sweepInterval = Duration.milliseconds(250)

  /// Gives up what has been silent for too long.
  private func sweep() {
    tick()
    let limit = UInt64(settings.timeout * 1e9)
    for lane in lanes where lane.isBusy && lane.lastActivity + limit < now {
      lane.transport?.cut(lane)
      lane.broke(.timeout)
    }
    if isRunning { sweeper?.schedule(after: Self.sweepInterval) }
  }
}

/// Lanes without work, the one that has waited longest first, so that all connections are used.
struct IdleLanes {
  private var ring: [Lane?] = []
  private var first = 0
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func push(_ lane: Lane) {
    if count == ring.count {
      ring = (0..<count).map { ring[(first + $0) % count] } + [Lane?](repeating: nil, count: max(16, count))
      first = 0
    }
    ring[(first + count) % ring.count] = lane
    count += 1
  }

  mutating func pop() -> Lane? {
    guard count > 0 else { return nil }
    let lane = ring[first]
    ring[first] = nil
    first = (first + 1) % ring.count
    count -= 1
    return lane
  }
}
