import PawlBase
package import PawlLoop
package import PawlObserve

/// Tells the event log of failures that come by the thousand: each kind once a minute, or in another time. From any thread.
package final class FailureLog: Sendable {
  /// A kind is told of once in this time.
  private let pause: Duration
  /// Kinds remembered at most; beyond them nothing is told.
  package static let limit = 64

  private struct Entry {
    var saidAt: Monotonic
    var unsaid = 0
  }

  package let events: EventLog
  private let clock: any LoopClock
  private let said = Locked<[String: Entry]>([:])

  /// Of failures that are told to that log.
  package init(events: EventLog, clock: any LoopClock, pause: Duration = .seconds(60)) {
    (self.events, self.clock, self.pause) = (events, clock, pause)
  }

  /// - Parameter kind: what may be told once in a ``pause``.
  /// - Returns: how many of its kind were not told of since the last one that was; `nil`: nor is this.
  package func due(_ kind: String) -> Int? {
    let now = clock.now()
    return said.withLock { said in
      if let entry = said[kind], now - entry.saidAt < pause {
        said[kind]?.unsaid += 1
        return nil
      }
      if said[kind] == nil, said.count >= Self.limit { said = said.filter { now - $0.value.saidAt < pause } }
      guard said[kind] != nil || said.count < Self.limit else { return nil }
      let unsaid = said[kind]?.unsaid ?? 0
      said[kind] = Entry(saidAt: now)
      return unsaid
    }
  }
}
