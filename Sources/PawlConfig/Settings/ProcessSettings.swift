package import PawlBase

/// `[pawl]`: the settings of the process.
package struct ProcessSettings: Hashable, Sendable {
  package enum LogLevel: String, Hashable, Sendable, CaseIterable { case debug, info, notice, warning, error }
  /// Where the lines of a log go.
  package enum LogTarget: Hashable, Sendable {
    case standardError, standardOutput, off
    case file(path: String)
    /// A syslog daemon behind a local socket; `nil`: behind the usual one.
    case syslog(path: String?)
    /// The journal of systemd; `nil`: behind its usual socket.
    case journal(path: String?)
  }
  package enum AccessLogFormat: Hashable, Sendable { case combined, json, custom(AccessFormat) }
  package enum SyslogFormat: String, Hashable, Sendable, CaseIterable { case rfc5424, rfc3164 }
  package enum SyslogFacility: String, Hashable, Sendable, CaseIterable {
    case kern, user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp
    case local0, local1, local2, local3, local4, local5, local6, local7
  }

  /// The directory of uploads, journals and catalogues.
  package var stateDirectory: String
  /// The number of event loops; `nil`: one for each core.
  package var workers: Int?
  /// The user and the group that pawl becomes once its addresses are bound; `nil`: it stays who it is, or takes the user's group.
  package var user: String?
  package var group: String?
  /// How long running transfers may go on after SIGTERM. A client that goes on by itself is better served by the next process, and
  /// new clients are refused as long as the drain takes (Config/behaviour.md, "Restart").
  package var drainTimeout = Duration.seconds(10)
  /// How long running transfers may go on in the old process after an upgrade. Long, because no client waits for their end.
  package var upgradeTimeout = Duration.seconds(3600)
  package var logLevel = LogLevel.info
  /// Where events go.
  package var log = LogTarget.standardError
  package var accessLog = LogTarget.standardOutput
  package var accessLogFormat = AccessLogFormat.combined
  /// Of so many hits one is in the access log.
  package var accessLogSample = 1
  package var syslogFormat = SyslogFormat.rfc5424
  package var syslogFacility = SyslogFacility.daemon
  /// Addresses of proxies whose `X-Forwarded-*` fields and PROXY protocol headers are used.
  package var trustedProxies = [AddressRange]()
  /// The most client connections; `nil`: as many as the limit on open files allows.
  package var maxConnections: Int?

  package init(stateDirectory: String) { self.stateDirectory = stateDirectory }

  static var keys: [Key<ProcessSettings>] {
    [
      .scalar("state-dir", \.stateDirectory, .path),
      .scalar("workers", \.workers, .optional(.count(1...1024), word: "auto")),
      .scalar("user", \.user, .optional(.account, word: "none")),
      .scalar("group", \.group, .optional(.account, word: "none")),
      .scalar("drain-timeout", \.drainTimeout, .time),
      .scalar("upgrade-timeout", \.upgradeTimeout, .time),
      .scalar("log-level", \.logLevel, .logLevel),
      .scalar("log", \.log, .logTarget(canBeOff: false)),
      .scalar("access-log", \.accessLog, .logTarget(canBeOff: true)),
      .scalar("access-log-format", \.accessLogFormat, .accessLogFormat),
      .scalar("access-log-sample", \.accessLogSample, .sample),
      .scalar("syslog-format", \.syslogFormat, .choice()),
      .scalar("syslog-facility", \.syslogFacility, .choice()),
      .list("trusted-proxies", \.trustedProxies, .addressRange, empty: "none", commas: true),
      .scalar("max-connections", \.maxConnections, .optional(.count(1...1_000_000), word: "0")),
    ]
  }
}
