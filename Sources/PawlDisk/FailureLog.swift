import PawlBase
package import PawlLoop
package import PawlObserve

/// Limits how many events about failures are logged: usually one event of each kind in one ``pause`` (a minute, unless set
/// otherwise). May be called on any thread.
package final class FailureLog: Sendable {
  /// The time in which each kind is logged once.
  private let pause: Duration
  /// The most kinds that are remembered. While this many kinds are remembered, events of further kinds are not logged.
  package static let limit = 64
  /// How many events of one kind are logged in one ``pause`` if each is about a different thing, such as a different file.
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

  /// Logs an event, unless enough of its kind were logged in this ``pause``. Adds `omitted` to its fields: the number of events of
  /// the kind that were not logged since the last logged one.
  /// - Parameters:
  ///   - kind: the kind of the event.
  ///   - most: the most events of this kind that are logged in one ``pause``.
  ///   - pairs: evaluated only if the event is logged.
  package func log(
    _ level: LogLevel, _ event: StaticString, of kind: @autoclosure () -> String, atMost most: Int = 1,
    _ pairs: @autoclosure () -> KeyValuePairs<StaticString, String>
  ) {
    guard events.isEnabled(level), let omitted = due(kind(), atMost: most) else { return }
    var fields = EventFields(pairs())
    fields.append((key: "omitted", value: "\(omitted)"))
    events.log(level, event, fields: fields)
  }

  /// Decides whether an event is logged.
  /// - Parameters:
  ///   - kind: the kind of the event.
  ///   - most: the most events of this kind that are logged in one ``pause``. A pause begins with the first logged event.
  /// - Returns: `nil`: do not log this event. Otherwise the number of events of this kind that were not logged since the last
  ///   logged one.
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
