package import PawlConfig
package import PawlObserve

/// The logs that the configuration asks for.
extension ProcessSettings {
  /// The lowest level of events that are written.
  package var eventLevel: PawlObserve.LogLevel { PawlObserve.LogLevel(logLevel.rawValue) ?? .info }

  /// Where events go.
  package var eventDestination: LogDestination { destination(of: log) }

  /// Opens the event log.
  package func openEventLog() throws(LogError) -> EventLog {
    try EventLog(level: eventLevel, destination: eventDestination)
  }

  /// Opens the access log; `nil`: `access-log = off`.
  func openAccessLog(_ events: EventLog) throws(LogError) -> AccessLog? {
    guard accessLog != .off else { return nil }
    let format: PawlObserve.AccessLogFormat =
      switch accessLogFormat {
      case .combined: .combined
      case .json: .json
      case .custom(let format): .custom(format)
      }
    return try AccessLog(
      destination: destination(of: accessLog), format: format, sample: UInt(clamping: accessLogSample),
      trouble: { events.log(.error, "access-log-failed", ["why": $0]) },
      lost: { events.log(.warning, "log-lines-dropped", ["log": "access", "count": "\($0)"]) })
  }

  private func destination(of target: LogTarget) -> LogDestination {
    switch target {
    case .standardError: .standardError
    case .standardOutput: .standardOutput
    case .off: .off
    case .file(let path): .file(path: path)
    case .syslog(let path): .syslog(path: path ?? LogDestination.syslogPath, syslogHeader)
    case .journal(let path): .journal(path: path ?? LogDestination.journalPath)
    }
  }

  private var syslogHeader: SyslogHeader {
    SyslogHeader(
      SyslogHeader.Format(rawValue: syslogFormat.rawValue) ?? .rfc5424,
      SyslogHeader.Facility(rawValue: syslogFacility.rawValue) ?? .daemon)
  }
}

/// Logs that a reload has opened and that are not in use yet, so that a reload that fails changes nothing.
package struct NewLogs: Sendable {
  /// The settings that ask for them.
  let settings: ProcessSettings
  /// `nil`: the present one goes on.
  private let eventSink: EventLog.Sink?
  private let level: PawlObserve.LogLevel
  /// `nil`: the present one goes on. Otherwise the new one, which is `nil` for `access-log = off`.
  let accessLog: AccessLog??

  /// Opens what differs from the settings in force. Blocking.
  init(
    _ new: ProcessSettings, inPlaceOf old: ProcessSettings, _ events: EventLog
  ) throws(LogError) {
    (settings, level) = (new, new.eventLevel)
    let isSameSyslog = new.syslogFormat == old.syslogFormat && new.syslogFacility == old.syslogFacility
    eventSink = new.log == old.log && isSameSyslog ? nil : try EventLog.Sink(new.eventDestination)
    let isSameAccess =
      new.accessLog == old.accessLog && new.accessLogFormat == old.accessLogFormat
      && new.accessLogSample == old.accessLogSample && isSameSyslog
    do throws(LogError) {
      accessLog = isSameAccess ? nil : .some(try new.openAccessLog(events))
    } catch {
      eventSink?.discard()
      throw error
    }
  }

  /// Closes what was opened, because it is not used.
  func discard() { eventSink?.discard() }

  /// Uses the new level and destination of events from now on.
  func take(_ events: EventLog) {
    if let eventSink { events.redirect(to: eventSink) }
    events.level = level
  }
}
