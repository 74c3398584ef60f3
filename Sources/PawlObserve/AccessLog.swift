import CLinux
package import PawlBase

/// The format of the access log: `access-log-format` in the configuration.
package enum AccessLogFormat: Hashable, Sendable {
  /// nginx's `combined`, byte for byte.
  case combined
  /// One JSON object a line, with additional values that `combined` does not have.
  case json
  /// The operator's own.
  case custom(AccessFormat)
}

/// The access log: one line for each request. A thread of its own writes several lines at a time, at most 200 ms late. Any thread
/// may log; no caller waits. While the destination takes no lines, up to 4 MiB are queued; further lines are dropped.
package final class AccessLog: @unchecked Sendable {
  // Safe: the cell has a stable address, and only atomic instructions read or write it. The other properties are constants.
  private let hits: UnsafeMutablePointer<UInt>
  private let writer: LineWriter?
  private let style: EventStyle
  package let format: AccessLogFormat
  /// Room for most lines, in bytes.
  private let lineRoom: Int
  /// Of so many hits one is written.
  private let sample: UInt
  private let times = Locked(LocalTimeText())

  /// A request that took at least this long is always written.
  package static let slow = Duration.seconds(1)

  /// - Parameters:
  ///   - sample: of so many hits one is written. Errors, aborts and requests that took ``slow`` are always written.
  ///   - trouble: called on the log's own thread with the reason when the file cannot be reopened, or when lines begin to be lost.
  ///   - lost: called on the log's own thread with the number of lines that were lost since the last call, at most once in
  ///     ``LineWriter/lossPause``.
  /// - Throws: ``LogError`` if the destination cannot be opened.
  package init(
    destination: LogDestination, format: AccessLogFormat, sample: UInt = 1,
    trouble: (@Sendable (String) -> Void)? = nil, lost: (@Sendable (UInt64) -> Void)? = nil
  ) throws(LogError) {
    (self.format, self.sample, style) = (format, max(sample, 1), EventStyle(destination))
    lineRoom = format == .combined ? 256 : 1024
    hasExtras = if case .custom(let format) = format { format.hasExtras } else { false }
    if case .off = destination {
      writer = nil
    } else {
      writer = try LineWriter(
        destination, capacity: 4 << 20, batch: 64 << 10, lingerMilliseconds: 200, trouble: trouble, lost: lost)
    }
    hits = .allocate(capacity: 1)
    hits.initialize(to: 0)
  }

  deinit {
    // Lines that are queued are still written; a loop that lets go of the log must not wait for that.
    writer?.finish()
    hits.deallocate()
  }

  /// Whether the log is on. If not, the caller need not build a record.
  package var isEnabled: Bool { writer != nil }

  /// Whether the format shows values that have to be collected while a request is answered.
  package let hasExtras: Bool

  /// The format, if it ``hasExtras``.
  package var extras: AccessFormat? {
    guard hasExtras, case .custom(let format) = format else { return nil }
    return format
  }

  package func write(_ record: AccessRecord) {
    guard let writer, sample == 1 || isWritten(record) else { return }
    var line: [UInt8] = []
    switch style {
    case .line:
      line.reserveCapacity(lineRoom)
      append(record, to: &line)
      line.append(0x0a)
    case .syslog(let header):
      header.append(
        to: &line, at: record.time, local: { LocalTimeText.syslog(record.time.dividedDown(by: 1000)) }, .info, "access")
      append(record, to: &line)
    case .journal:
      var text: [UInt8] = []
      append(record, to: &text)
      line.append(journalText: text, .info, event: "access")
      line.append(journal: record)
    }
    writer.write(line)
  }

  private func append(_ record: AccessRecord, to line: inout [UInt8]) {
    switch format {
    case .combined:
      let second = record.time.dividedDown(by: 1000)
      line.append(combined: record, time: times.withLock { $0.text(ofSecond: second) })
    case .json: line.append(json: record)
    case .custom(let format): line.append(custom: format, record, times: times)
    }
  }

  /// Whether a line is written although only a sample of the hits is.
  private func isWritten(_ record: AccessRecord) -> Bool {
    guard record.cacheOutcome == "hit", record.endedBy == .done, (200..<400).contains(record.status),
      Duration.microseconds(record.durationMicros) < Self.slow
    else { return true }
    return pawl_atomic_add(hits, 1) % sample == 1
  }

  /// Reopens the file after a rotation. Does nothing for other destinations.
  /// - Parameter then: called once, on any thread, with the reason if the file could not be opened.
  package func reopen(then: (@Sendable (LogError?) -> Void)? = nil) {
    guard let writer else { return then?(nil) ?? () }
    writer.reopen(then: then)
  }

  /// Waits until all lines written so far have reached the destination.
  package func flush() { writer?.flush() }

  /// Waits like ``flush()``, but only for a limited time, because the reader of a pipe may be gone. For the end of the program.
  package func flushLast() { writer?.flush(atMost: LineWriter.lastWait) }

  /// How many lines were lost since the start.
  package var droppedCount: UInt64 { writer?.droppedCount ?? 0 }

  /// Returns how many lines were lost since the last call, because the queue was full or the destination refused them.
  package func takeDropped() -> UInt64 { writer?.takeDropped() ?? 0 }
}
