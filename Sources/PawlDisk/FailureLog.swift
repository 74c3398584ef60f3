import PawlBase
package import PawlLoop
package import PawlObserve

/// Limits events about failures that may come by the thousand: each kind is logged once a minute, or in another time. From any
/// thread.
package final class FailureLog: Sendable {
  /// The time in which each kind is logged once.
  private let pause: Duration
  /// The most kinds that are remembered; others are not logged meanwhile.
  package static let limit = 64
  /// How many of a kind are logged in one ``pause`` if each of them is about another thing, such as a file.
  package static let few = 16

  private struct Entry {
    var saidAt: Monotonic
    var told = 1
    var omitted = 0
  }

  package let events: EventLog
  private let clock: any LoopClock
  private let said = Locked<[String: Entry]>([:])

  /// Makes a limit for events of that log.
  package init(events: EventLog, clock: any LoopClock, pause: Duration = .seconds(60)) {
    (self.events, self.clock, self.pause) = (events, clock, pause)
  }

  /// Decides whether an event is logged.
  /// - Parameters:
  ///   - kind: the kind of the event.
  ///   - most: events of the kind that are logged in one ``pause``, counted from the first of them.
  /// - Returns: `nil`: do not log this event. Otherwise how many of its kind were left out since the last one that was logged.
  package func due(_ kind: String, atMost most: Int = 1) -> Int? {
    let now = clock.now()
    return said.withLock { said in
      if let entry = said[kind], now - entry.saidAt < pause {
        guard entry.told < most else {
          said[kind]?.omitted += 1
          return nil
        }
        said[kind]?.told += 1
        return 0
      }
      if said[kind] == nil, said.count >= Self.limit { said = said.filter { now - $0.value.saidAt < pause } }
      guard said[kind] != nil || said.count < Self.limit else { return nil }
      let omitted = said[kind]?.omitted ?? 0
      said[kind] = Entry(saidAt: now)
      return omitted
    }
  }
}
