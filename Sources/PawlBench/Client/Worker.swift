import CLinux
import PawlLoop
import PawlTLS

/// The server that a run connects to.
struct ServerPlace: Sendable {
  var address: SocketAddress
  var tls: TLSClientContext?
}

/// One thread of the load, with its loop, its connections and its counts. Used on its loop only.
final class Worker {
  let loop: EventLoop
  let index: Int
  let settings: RunSettings
  let server: ServerPlace
  let reference: Reference?
  let body: UploadBody?
  /// The read buffer that all connections share, one at a time.
  let buffer: UnsafeMutableBufferPointer<UInt8>
  var tally = Tally()
  /// The time when the present callback began, in nanoseconds.
  private(set) var now: UInt64 = 0
  var random: RandomNumbers
  /// The reason why the last connection failed, for the terminal.
  var trouble: String?

  private var lanes: [Lane] = []
  private var transports: [any Transport] = []
  private var pacer: Pacer?
  private var timer: PreciseTimer?
  private var sweeper: LoopTimer?
  private var idle = IdleLanes()
  /// The number of operations that may still begin; `nil`: no limit.
  private var left: UInt64?
  private var isRunning = false
  /// The most concurrent operations. For `idle` it may be less than the number of lanes: if all connections were opened at once,
  /// the server's listen backlog would overflow.
  private let busyLimit: Int
  private var busyCount = 0
  /// Called once when the last operation has ended.
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

  /// Reads the clock.
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

  /// Begins the load.
  /// - Parameters:
  ///   - operations: the number of operations; `nil`: no limit.
  ///   - start: the time when the first operation is due in an open loop (a run with a rate), in nanoseconds.
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

  /// Begins the measurement, and drops earlier counts. Operations that are running count when they end.
  func beginMeasurement(operations: UInt64?) {
    tally = Tally()
    left = operations
    tick()
    fill()
  }

  /// Returns the counts since the last call.
  func takeTally() -> Tally {
    var taken = Tally()
    swap(&taken, &tally)
    return taken
  }

  /// Breaks off all operations.
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

  /// Begins operations on idle lanes. In an open loop (a run with a rate) these are all operations that are due, otherwise one
  /// for each idle lane.
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
    // The script waits for other lanes and calls `proceed` later.
    busyCount -= 1
    if let left { self.left = left + 1 }
  }

  /// Continues with a lane whose script had to wait.
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
    // The server is not reachable. A pause avoids a million attempts a second.
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

  /// Gives up exchanges in which nothing was sent or received for the time of `--timeout`.
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

/// Lanes without work. The lane that has waited longest is first, so that all connections are used.
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
