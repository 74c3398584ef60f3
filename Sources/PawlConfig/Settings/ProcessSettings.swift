/// `[pawl]`: the process as a whole.
package struct ProcessSettings: Hashable, Sendable {
  package enum LogLevel: String, Hashable, Sendable, CaseIterable { case debug, info, notice, warning, error }
  package enum AccessLog: Hashable, Sendable { case standardError, off, file(path: String) }
  package enum AccessLogFormat: String, Hashable, Sendable, CaseIterable { case combined, json }

  /// Uploads, journals, catalogues.
  package var stateDirectory: String
  /// Event loops; `nil`: one a core.
  package var workers: Int?
  /// How long transfers may go on after SIGTERM.
  package var drainTimeout = Duration.seconds(30)
  package var logLevel = LogLevel.info
  package var accessLog = AccessLog.standardError
  package var accessLogFormat = AccessLogFormat.combined
  /// Peers whose `X-Forwarded-*` fields and PROXY protocol are believed.
  package var trustedProxies = [AddressRange]()
  /// Client connections in all; `nil`: what the limit on open files allows.
  package var maxConnections: Int?

  package init(stateDirectory: String) { self.stateDirectory = stateDirectory }

  static var keys: [Key<ProcessSettings>] {
    [
      .scalar("state-dir", \.stateDirectory, .path),
      .scalar("workers", \.workers, .optional(.count(1...1024), word: "auto")),
      .scalar("drain-timeout", \.drainTimeout, .time),
      .scalar("log-level", \.logLevel, .choice()),
      .scalar("access-log", \.accessLog, .accessLog),
      .scalar("access-log-format", \.accessLogFormat, .choice()),
      .list("trusted-proxies", \.trustedProxies, .addressRange, empty: "none", commas: true),
      .scalar("max-connections", \.maxConnections, .optional(.count(1...1_000_000), word: "0")),
    ]
  }
}

/// `[admin]`: not served by this version, so a loaded configuration has `nil` here.
package struct AdminSettings: Hashable, Sendable {
  package var listen: ListenAddress?

  static var keys: [Key<AdminSettings>] {
    [.scalar("listen", \.listen, .optional(.listenAddress, word: "off"))]
  }
}
