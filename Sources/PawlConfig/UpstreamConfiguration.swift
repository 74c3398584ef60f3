/// `[upstream:NAME]`: an application and the limits of pawl's use of it.
package struct UpstreamConfiguration: Hashable, Sendable {
  package var name: String
  /// At least one in a loaded configuration.
  package var urls = [OriginURL]()
  package var connectTimeout = Duration.seconds(5)
  /// From the request's last byte until the answer's first.
  package var responseTimeout = Duration.seconds(15 * 60)
  /// Silence inside a body for so long means that the connection is broken.
  package var idleTimeout = Duration.seconds(60)
  /// Over all loops; fills may take half.
  package var maxConnections = 64
  /// How long a request waits for a connection before it is refused with 503.
  package var queueTimeout = Duration.seconds(30)
  /// Reconnects in one transfer without progress before it fails.
  package var resumeAttempts = 10
  /// A transfer that can only be replayed ends after this many times the bytes held.
  package var replayLimit = 20

  package init(name: String) { self.name = name }

  static var keys: [Key<UpstreamConfiguration>] {
    [
      .list("url", \.urls, .originURL, empty: nil, commas: false, isRequired: true),
      .scalar("connect-timeout", \.connectTimeout, .positiveTime),
      .scalar("response-timeout", \.responseTimeout, .positiveTime),
      .scalar("idle-timeout", \.idleTimeout, .positiveTime),
      .scalar("max-connections", \.maxConnections, .count(1...60_000)),
      .scalar("queue-timeout", \.queueTimeout, .time),
      .scalar("resume-attempts", \.resumeAttempts, .count(0...1_000_000)),
      .scalar("replay-limit", \.replayLimit, .count(0...1_000_000)),
    ]
  }
}
