import PawlLoop

/// Decides whether one node of an upstream works or rests (is taken as down), and for how long. Pure.
struct NodeHealth: Hashable, Sendable {
  /// Why a node rests: `failsChecks` until its health checks pass, `until` after a failure.
  enum Rest: Hashable { case none, failsChecks, until(Monotonic) }

  /// How many rests have begun since the node last worked. Each rest is twice as long as the one before.
  private var failures = 0
  private var failedAt = Monotonic(nanoseconds: 0)
  private var restsUntil = Monotonic(nanoseconds: 0)
  /// After a rest one request probes the node; until this time other requests prefer other nodes, as if this node still rested.
  private var isTriedUntil = Monotonic(nanoseconds: 0)
  private var errors = ErrorStreak()
  /// Whether its health checks have failed, and have not passed since.
  private var failsChecks = false
  /// The number of consecutive health checks whose result contradicts ``failsChecks``. When it reaches `fall` or `rise`, the state
  /// changes (as in HAProxy).
  private var contraryChecks = 0

  /// Whether the node has not failed since it last worked, and does not fail its health checks.
  var isWell: Bool { failures == 0 && !failsChecks }

  /// The health with which the node goes on under other settings.
  /// - Parameter isChecked: whether its health checks go on. Without them no check could end a rest that checks began.
  func carried(isChecked: Bool) -> NodeHealth {
    guard failsChecks, !isChecked else { return self }
    var health = self
    (health.failsChecks, health.contraryChecks) = (false, 0)
    return health
  }

  func rest(at now: Monotonic) -> Rest {
    let end = max(restsUntil, isTriedUntil)
    if now < end { return .until(end) }
    return failsChecks ? .failsChecks : .none
  }

  /// Begins a rest, because the node refused a connection, or did not respond in time.
  mutating func failed(at now: Monotonic, maxRest: Duration) {
    // Several requests may fail at the same moment: such a burst counts as one failure.
    guard now >= restsUntil else { return }
    failures += 1
    failedAt = now
    restsUntil = now.advanced(by: Self.pause(failures: failures, atMost: maxRest))
  }

  /// Notes that a request goes to the node. The first one after a rest probes it.
  mutating func isAsked(at now: Monotonic, maxRest: Duration) {
    guard failures > 0, now >= restsUntil else { return }
    isTriedUntil = now.advanced(by: Self.pause(failures: failures, atMost: maxRest))
  }

  /// Returns the length of a rest: 1 s, 2 s, 4 s and so on.
  static func pause(failures: Int, atMost most: Duration) -> Duration {
    min(.seconds(1 << min(max(failures - 1, 0), 30)), most)
  }

  /// Ends the rest and the streak of errors, because the node responded, and not with an error.
  /// - Parameter begun: when the request began. If that was before the last failure, the response does not end the rest, because it
  ///   says nothing about the node after that failure.
  mutating func worked(since begun: Monotonic) {
    errors = ErrorStreak()
    wasReached(since: begun)
  }

  /// Ends the rest, because the node responded, even if with an error.
  mutating func wasReached(since begun: Monotonic) {
    guard failures > 0, begun >= failedAt else { return }
    (failures, restsUntil, isTriedUntil) = (0, Monotonic(nanoseconds: 0), Monotonic(nanoseconds: 0))
  }

  /// Counts an error: an error response, or a connection that broke before a response.
  /// - Returns: whether the node has to rest: `limit` errors in a row, for more than one path.
  mutating func erred(for path: UInt64, limit: Int) -> Bool { errors.takes(path, limit: limit) }

  /// Counts the result of a health check.
  mutating func checked(passed: Bool, fall: Int, rise: Int) {
    guard passed == failsChecks else { return contraryChecks = 0 }
    contraryChecks += 1
    guard contraryChecks >= (passed ? rise : fall) else { return }
    // A node whose health checks pass again starts without its history.
    if passed { self = NodeHealth() } else { (failsChecks, contraryChecks) = (true, 0) }
  }
}

/// Consecutive errors of one node. A single path that always fails says nothing about the node.
struct ErrorStreak: Hashable, Sendable {
  private var count = 0
  private var firstPath: UInt64?
  private var areSeveralPaths = false

  /// Counts one more error, for the path with this hash.
  /// - Returns: whether there are at least `limit` errors, for more than one path. Always `false` with a limit of 0.
  mutating func takes(_ path: UInt64, limit: Int) -> Bool {
    count += 1
    if let firstPath, firstPath != path { areSeveralPaths = true }
    firstPath = firstPath ?? path
    return limit > 0 && count >= limit && areSeveralPaths
  }
}
