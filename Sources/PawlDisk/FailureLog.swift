import PawlBase
package import PawlLoop
package import PawlObserve

/// Tells the event log of failures that come by the thousand: each kind once a minute, or in another time. From any thread.
package final class FailureLog: Sendable {
  /// A kind is told of once in this time.
  private let pause: Duration
  /// Kinds remembered at most; beyond them nothing is told.
  package static let limit = 64
  /// How many of a kind are told of in one ``pause`` where each of them names something else, such as a file.
  package static let few = 16

  private struct Entry {
    var saidAt: Monotonic
    var told = 1
    var unsaid = 0
  }

  package let events: EventLog
  private let clock: any LoopClock
  private let said = Locked<[String: Entry]>([:])

  /// Of failures that are told to that log.
  package init(events: EventLog, clock: any LoopClock, pause: Duration = .seconds(60)) {
    (self.events, self.clock, self.pause) = (events, clock, pause)
  }

  /// Decides whether an event is logged.
  /// - Parameters:
  ///   - kind: what is limited.
  ///   - most: events of the kind that are logged in one ``pause``, counted from the first of them.
  /// - Returns: how many of its kind were left out since the last one that was logged; `nil`: this one is left out, too.
  package func due(_ kind: String, atMost most: Int = 1) -> Int? {
    let now = clock.now()
    return said.withLock { said in
      if let entry = said[kind], now - entry.saidAt < pause {
        guard entry.told < most else {
          said[kind]?.unsaid += 1
          return nil
        }
        said[kind]?.told += 1
        return 0
      }
      if said[kind] == nil, said.count >= Self.limit { said = said.filter { now - $0.value.saidAt < pause } }
      guard said[kind] != nil || said.count < Self.limit else { return nil }
      let unsaid = said[kind]?.unsaid ?? 0
      said[kind] = Entry(saidAt: now)
      return unsaid
    }
  }
}
