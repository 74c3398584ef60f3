import PawlLoop

/// Whether one node of an upstream works or rests, and for how long. Pure.
struct NodeHealth: Hashable, Sendable {
  /// Why a node rests, the least certain first.
  enum Rest: Hashable { case none, failsChecks, until(Monotonic) }

  /// Rests begun since it last worked: each is twice as long as the one before.
  private var failures = 0
  private var failedAt = Monotonic(nanoseconds: 0)
  private var restsUntil = Monotonic(nanoseconds: 0)
  /// After a rest one request finds out whether it works again; the others wait for that so long.
  private var isTriedUntil = Monotonic(nanoseconds: 0)
  private var errors = ErrorStreak()
  /// Its checks failed, and have not passed since.
  private var failsChecks = false
  /// Checks in a row that say other than the ones before.
  private var contraryChecks = 0

  /// Nothing is known against it.
  var isWell: Bool { failures == 0 && !failsChecks }

  func rest(at now: Monotonic) -> Rest {
    let end = max(restsUntil, isTriedUntil)
    if now < end { return .until(end) }
    return failsChecks ? .failsChecks : .none
  }

  /// It refused, or did not answer in time.
  mutating func failed(at now: Monotonic, maxRest: Duration) {
    // Others may have failed in the same moment: a burst of refusals is one refusal.
    guard now >= restsUntil else { return }
    failures += 1
    failedAt = now
    restsUntil = now.advanced(by: Self.pause(failures: failures, atMost: maxRest))
  }

  /// A request goes there. The first one after a rest is to find out.
  mutating func isAsked(at now: Monotonic, maxRest: Duration) {
    guard failures > 0, now >= restsUntil else { return }
    isTriedUntil = now.advanced(by: Self.pause(failures: failures, atMost: maxRest))
  }

  /// 1 s, 2 s, 4 s and so on.
  static func pause(failures: Int, atMost most: Duration) -> Duration {
    min(.seconds(1 << min(max(failures - 1, 0), 30)), most)
  }

  /// It answered, and not by an error.
  /// - Parameter begun: when the request began; what it says of the time before a failure counts for nothing after it.
  mutating func worked(since begun: Monotonic) {
    errors = ErrorStreak()
    wasReached(since: begun)
  }

  /// It answered, if by an error.
  mutating func wasReached(since begun: Monotonic) {
    guard failures > 0, begun >= failedAt else { return }
    (failures, restsUntil, isTriedUntil) = (0, Monotonic(nanoseconds: 0), Monotonic(nanoseconds: 0))
  }

  /// It answered with an error, or broke off instead of an answer.
  /// - Returns: whether it is to rest: `limit` errors in a row, to more than one path.
  mutating func erred(for path: UInt64, limit: Int) -> Bool { errors.takes(path, limit: limit) }

  /// A check has passed, or failed.
  mutating func checked(passed: Bool, fall: Int, rise: Int) {
    guard passed == failsChecks else { return contraryChecks = 0 }
    contraryChecks += 1
    guard contraryChecks >= (passed ? rise : fall) else { return }
    // What checks have brought back has a new beginning.
    if passed { self = NodeHealth() } else { (failsChecks, contraryChecks) = (true, 0) }
  }
}

/// Errors in a row of one node. One path that always fails says nothing of its node.
struct ErrorStreak: Hashable, Sendable {
  private var count = 0
  private var firstPath: UInt64?
  private var areSeveralPaths = false

  /// One more, for the path with this hash.
  /// - Returns: whether these are `limit` and more, to more than one path. Never with a limit of 0.
  mutating func takes(_ path: UInt64, limit: Int) -> Bool {
    count += 1
    if let firstPath, firstPath != path { areSeveralPaths = true }
    firstPath = firstPath ?? path
    return limit > 0 && count >= limit && areSeveralPaths
  }
}
