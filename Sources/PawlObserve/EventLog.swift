import CLinux
import PawlBase

/// The event log for the operator: one line for each event, with what happened and why:
/// `2026-11-21T10:00:00.123Z notice origin-resumed upstream=app target=/x at=123`.
///
/// A value is quoted if it is empty, or contains `"`, `\`, `=` or a character that is not visible ASCII. Any thread may log; no
/// caller waits. The level and the destination may change while the log is in use.
package final class EventLog: @unchecked Sendable {
  // Safe: the cell has a stable address, and only atomic instructions read or write it. The other properties are constants.
  private let levelCell: UnsafeMutablePointer<UInt>
  private let sink: Locked<Sink>
  private let nowMilliseconds: @Sendable () -> Int64

  /// An open destination, and how events are written there.
  package struct Sink: Sendable {
    fileprivate let writer: LineWriter
    fileprivate let style: EventStyle

    /// - Throws: ``LogError`` if the destination cannot be opened.
    package init(_ destination: LogDestination) throws(LogError) {
      writer = try LineWriter(destination, capacity: 1 << 20, batch: 1, lingerMilliseconds: 0)
      style = EventStyle(destination)
    }

    /// Closes a destination that no log uses.
    package func discard() { writer.close() }
  }

  /// - Parameter nowMilliseconds: the wall clock, in milliseconds since 1970.
  /// - Throws: ``LogError`` if the destination cannot be opened.
  package init(
    level: LogLevel, destination: LogDestination = .standardError,
    nowMilliseconds: @escaping @Sendable () -> Int64 = { wallClockMilliseconds() }
  ) throws(LogError) {
    self.nowMilliseconds = nowMilliseconds
    sink = Locked(try Sink(destination))
    levelCell = .allocate(capacity: 1)
    levelCell.initialize(to: UInt(level.rawValue))
  }

  /// Makes a log that passes every line to `sink` without its line end. For tests.
  package convenience init(
    level: LogLevel = .debug, nowMilliseconds: @escaping @Sendable () -> Int64 = { wallClockMilliseconds() },
    sink: @escaping @Sendable (String) -> Void
  ) {
    let destination = LogDestination.closure { lines in
      for line in lines.split(separator: 0x0a) { sink(String(decoding: line, as: UTF8.self)) }
    }
    do throws(LogError) {
      try self.init(level: level, destination: destination, nowMilliseconds: nowMilliseconds)
    } catch {
      preconditionFailure("a closure needs no file: \(error)")
    }
  }

  deinit {
    writer.close()
    levelCell.deallocate()
  }

  private var writer: LineWriter { sink.withLock { $0.writer } }

  /// Lines that former destinations lost.
  private let lostBefore = Locked<UInt64>(0)

  /// The lowest level of events that are written. May be read and set on any thread; a change holds from the next event on.
  package var level: LogLevel {
    get { LogLevel(rawValue: UInt8(truncatingIfNeeded: pawl_atomic_load(levelCell))) ?? .info }
    set { pawl_atomic_store(levelCell, UInt(newValue.rawValue)) }
  }

  /// Whether events of the level are written: one comparison. Check this before computing expensive values.
  @inline(__always)
  package func isEnabled(_ level: LogLevel) -> Bool { UInt(level.rawValue) >= pawl_atomic_load(levelCell) }

  /// Writes further events to another destination. Events logged before still go to the former one.
  package func redirect(to new: Sink) {
    var former = new
    sink.withLock { swap(&former, &$0) }
    former.writer.finish()
    let lost = former.writer.droppedCount
    lostBefore.withLock { $0 += lost }
  }

  /// Writes one line. `pairs` is evaluated only if the level is enabled.
  /// - Parameters:
  ///   - event: what happened, in the past tense and kebab-case.
  ///   - pairs: what it happened to, in the given order.
  package func log(
    _ level: LogLevel, _ event: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
  ) {
    guard isEnabled(level) else { return }
    log(level, event, fields: pairs())
  }

  /// Writes one line, with fields that were collected, if the level is enabled.
  package func log(
    _ level: LogLevel, _ event: StaticString, fields: some Collection<(key: StaticString, value: String)>
  ) {
    guard isEnabled(level) else { return }
    let (time, sink) = (nowMilliseconds(), sink.withLock { $0 })
    let lost = sink.writer.takeDropped()
    if lost > 0 {
      let loss: EventFields = [(key: "count", value: String(lost))]
      sink.writer.write { sink.style.append(to: &$0, at: time, .warning, "log-lines-dropped", loss) }
    }
    sink.writer.write { sink.style.append(to: &$0, at: time, level, event, fields) }
  }

  /// How many lines were lost since the start.
  package var droppedCount: UInt64 { lostBefore.withLock { $0 } + sink.withLock { $0 }.writer.droppedCount }

  /// Waits until all events logged so far are written. For tests.
  package func flush() { writer.flush() }

  /// Waits like ``flush()``, but only for a limited time, because the reader of a pipe may be gone. For the end of the program.
  package func flushLast() { writer.flush(atMost: LineWriter.lastWait) }

  /// Reopens the file after a rotation. Does nothing for other destinations.
  /// - Parameter then: called once, on any thread, with the reason if the file could not be opened. It is logged, too.
  package func reopen(then: (@Sendable (LogError?) -> Void)? = nil) {
    writer.reopen { [weak self] failure in
      if let failure { self?.log(.error, "event-log-failed", ["why": failure.description]) }
      then?(failure)
    }
  }
}

/// Fields of an event that are collected before it is written.
package typealias EventFields = [(key: StaticString, value: String)]

/// Returns the wall clock: milliseconds since 1970.
package func wallClockMilliseconds() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
