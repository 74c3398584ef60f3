import CLinux
import PawlBase

/// The format of the access log: `access-log-format` in the configuration.
package enum AccessLogFormat: String, CaseIterable, Sendable {
  /// nginx's `combined`, byte for byte.
  case combined
  /// One JSON object a line, with additional values that `combined` does not have.
  case json
}

/// The access log: one line for each request. A thread of its own writes several lines at a time, at most 200 ms late. Any thread
/// may log; no caller waits. While the destination takes no lines, up to 4 MiB are queued; further lines are dropped.
package final class AccessLog: Sendable {
  private let writer: LineWriter?
  private let format: AccessLogFormat
  private let localTime = Locked(LocalTimeText())

  /// - Parameter trouble: called on the log's own thread with the reason when the file cannot be reopened, or when lines
  ///   begin to be lost.
  /// - Throws: ``LogError`` if the file of the destination cannot be opened.
  package init(
    destination: LogDestination, format: AccessLogFormat, trouble: (@Sendable (String) -> Void)? = nil
  ) throws(LogError) {
    self.format = format
    if case .off = destination {
      writer = nil
    } else {
      writer = try LineWriter(
        destination, capacity: 4 << 20, batch: 64 << 10, lingerMilliseconds: 200, trouble: trouble)
    }
  }

  deinit { writer?.close() }

  /// Whether the log is on. If not, the caller need not build a record.
  package var isEnabled: Bool { writer != nil }

  package func write(_ record: AccessRecord) {
    guard let writer else { return }
    var line: [UInt8] = []
    switch format {
    case .combined:
      let second = record.time.dividedDown(by: 1000)
      line.reserveCapacity(256)
      line.append(combined: record, time: localTime.withLock { $0.text(ofSecond: second) })
    case .json:
      line.reserveCapacity(1024)
      line.append(json: record)
    }
    writer.write(line)
  }

  /// Reopens the file after a rotation. Does nothing for other destinations.
  package func reopen() { writer?.reopen() }

  /// Waits until all lines written so far have reached the destination.
  package func flush() { writer?.flush() }

  /// Waits like ``flush()``, but only for a limited time, because the reader of a pipe may be gone. For the end of the program.
  package func flushLast() { writer?.flush(atMost: LineWriter.lastWait) }

  /// Returns how many lines were lost since the last call, because the queue was full or the destination refused them.
  package func takeDropped() -> UInt64 { writer?.takeDropped() ?? 0 }
}

/// The text of nginx's `$time_local`, `21/Nov/2026:10:00:00 +0100`, cached for one second.
struct LocalTimeText: Sendable {
  private var second = Int64.min
  private var text: [UInt8] = []

  mutating func text(ofSecond second: Int64) -> [UInt8] {
    guard second != self.second else { return text }
    var (broken, time) = (tm(), time_t(second))
    localtime_r(&time, &broken)
    self.second = second
    text = Self.format(second, secondsEastOfUTC: Int64(broken.tm_gmtoff))
    return text
  }

  static func format(_ second: Int64, secondsEastOfUTC offset: Int64) -> [UInt8] {
    let time = CivilTime(secondsSince1970: second.addingReportingOverflow(offset).partialValue)
    var text: [UInt8] = []
    text.append(decimal: UInt64(time.day), width: 2)
    text.append(0x2f)
    text.append(text: monthName(time.month))
    text.append(0x2f)
    text.append(decimal: UInt64(time.year), width: 4)
    text.append(0x3a)
    text.append(clock: time)
    text.append(text: offset < 0 ? " -" : " +")
    text.append(decimal: UInt64(offset.magnitude / 3600), width: 2)
    text.append(decimal: UInt64(offset.magnitude / 60 % 60), width: 2)
    return text
  }

  private static func monthName(_ month: Int64) -> StaticString {
    switch month {
    case 1: "Jan"
    case 2: "Feb"
    case 3: "Mar"
    case 4: "Apr"
    case 5: "May"
    case 6: "Jun"
    case 7: "Jul"
    case 8: "Aug"
    case 9: "Sep"
    case 10: "Oct"
    case 11: "Nov"
    default: "Dec"
    }
  }
}
