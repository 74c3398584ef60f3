import CLinux
import PawlBase

/// The event log for the operator: one line for each event, with what happened and why:
/// `2026-11-21T10:00:00.123Z notice origin-resumed upstream=app target=/x at=123`.
///
/// A value is quoted if it is empty, or contains `"`, `\`, `=` or a character that is not visible ASCII. Any thread may log; no
/// caller waits.
package final class EventLog: Sendable {
  /// The lowest level of events that are written. Check the level before computing expensive values.
  package let level: LogLevel
  private let writer: LineWriter
  private let nowMilliseconds: @Sendable () -> Int64

  /// - Parameter nowMilliseconds: the wall clock, in milliseconds since 1970.
  /// - Throws: ``LogError`` if the file of the destination cannot be opened.
  package init(
    level: LogLevel, destination: LogDestination = .standardError,
    nowMilliseconds: @escaping @Sendable () -> Int64 = { wallClockMilliseconds() }
  ) throws(LogError) {
    self.level = level
    self.nowMilliseconds = nowMilliseconds
    writer = try LineWriter(destination, capacity: 1 << 20, batch: 1, lingerMilliseconds: 0)
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

  deinit { writer.close() }

  package func isEnabled(_ level: LogLevel) -> Bool { level >= self.level }

  /// Writes one line. `pairs` is evaluated only if the level is enabled.
  /// - Parameters:
  ///   - event: what happened, in the past tense and kebab-case.
  ///   - pairs: what it happened to, in the given order.
  package func log(
    _ level: LogLevel, _ event: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<StaticString, String> = [:]
  ) {
    guard isEnabled(level) else { return }
    let (time, pairs) = (nowMilliseconds(), pairs())
    let lost = writer.takeDropped()
    writer.write { line in
      if lost > 0 {
        line.append(logHeadAt: time, .warning, "log-lines-dropped")
        line.append(pair: "count", String(lost))
        line.append(0x0a)
      }
      line.append(logHeadAt: time, level, event)
      for (key, value) in pairs { line.append(pair: key, value) }
      line.append(0x0a)
    }
  }

  /// Waits until all events logged so far are written. For tests.
  package func flush() { writer.flush() }

  /// Waits like ``flush()``, but only for a limited time, because the reader of a pipe may be gone. For the end of the program.
  package func flushLast() { writer.flush(atMost: LineWriter.lastWait) }

  /// Reopens the file after a rotation. Does nothing for other destinations.
  package func reopen() { writer.reopen() }
}

/// Returns the wall clock: milliseconds since 1970.
package func wallClockMilliseconds() -> Int64 {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

extension [UInt8] {
  fileprivate mutating func append(logHeadAt milliseconds: Int64, _ level: LogLevel, _ event: StaticString) {
    append(timestamp: milliseconds)
    append(0x20)
    append(text: level.word)
    append(0x20)
    append(text: event)
  }

  fileprivate mutating func append(pair key: StaticString, _ value: String) {
    append(0x20)
    append(text: key)
    append(0x3d)
    if !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c && $0 != 0x3d }) {
      append(contentsOf: value.utf8)
    } else {
      append(0x22)
      for byte in value.utf8 { append(quoted: byte) }
      append(0x22)
    }
  }

  private mutating func append(quoted byte: UInt8) {
    switch byte {
    case 0x22, 0x5c: append(contentsOf: [0x5c, byte])
    case 0x0a: append(contentsOf: [0x5c, 0x6e])
    case 0x0d: append(contentsOf: [0x5c, 0x72])
    case 0x09: append(contentsOf: [0x5c, 0x74])
    case 0..<0x20, 0x7f:
      append(contentsOf: [0x5c, 0x78])
      append(hexadecimal: byte, uppercase: false)
    default: append(byte)
    }
  }
}
