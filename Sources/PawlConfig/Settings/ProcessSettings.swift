/// `[pawl]`: the settings of the process.
package struct ProcessSettings: Hashable, Sendable {
  package enum LogLevel: String, Hashable, Sendable, CaseIterable { case debug, info, notice, warning, error }
  package enum AccessLog: Hashable, Sendable { case standardError, off, file(path: String) }
  package enum AccessLogFormat: String, Hashable, Sendable, CaseIterable { case combined, json }

  /// The directory of uploads, journals and catalogues.
  package var stateDirectory: String
  /// The number of event loops; `nil`: one for each core.
  package var workers: Int?
  /// How long running transfers may go on after SIGTERM.
  package var drainTimeout = Duration.seconds(30)
  package var logLevel = LogLevel.info
  package var accessLog = AccessLog.standardError
  package var accessLogFormat = AccessLogFormat.combined
  /// Addresses of proxies whose `X-Forwarded-*` fields and PROXY protocol headers are used.
  package var trustedProxies = [AddressRange]()
  /// The most client connections; `nil`: as many as the limit on open files allows.
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

/// `[admin]`: not supported by this version, so `listen` is `nil` in a loaded configuration.
package struct AdminSettings: Hashable, Sendable {
  package var listen: ListenAddress?

  static var keys: [Key<AdminSettings>] {
    [.scalar("listen", \.listen, .optional(.listenAddress, word: "off"))]
  }
}
