/// Which node of an upstream is asked next.
package enum Balance: String, Hashable, Sendable, CaseIterable {
  case roundRobin = "round-robin"
  case leastConnections = "least-connections"
  case hash
}

/// `[upstream:NAME]`: an application and the limits of pawl's use of it.
package struct UpstreamSection: Hashable, Sendable {
  package var name: String
  /// At least one in a loaded configuration, and one that is no backup.
  package var nodes = [OriginNode]()
  package var balance = Balance.roundRobin
  /// A node that refuses or times out rests for 1 s, 2 s, 4 s, and so on up to this.
  package var maxRest = Duration.seconds(32)
  /// So many answers in a row with 500, 502, 503 or 504, to more than one path, and a node rests; 0: never.
  package var restAfterErrors = 5
  /// Asked of each node again and again; `nil`: no checks.
  package var checkPath: String?
  package var checkInterval = Duration.seconds(10)
  /// From connecting to the head of the answer.
  package var checkTimeout = Duration.seconds(5)
  /// What a node that works answers.
  package var checkStatus = [200...399]
  /// So many checks in a row have to fail before a node rests.
  package var checkFall = 2
  /// So many have to pass before it is asked again.
  package var checkRise = 2
  package var connectTimeout = Duration.seconds(5)
  /// From the request's last byte until the answer's first.
  package var responseTimeout = Duration.seconds(15 * 60)
  /// Silence inside a body for so long means that the connection is broken.
  package var idleTimeout = Duration.seconds(60)
  /// Over all loops; fills may take half.
  package var maxConnections = 64
  /// Event streams and tunnels (WebSockets), which are not counted there.
  package var maxLiveConnections = 10_000
  /// How long a request waits for a connection before it is refused with 503.
  package var queueTimeout = Duration.seconds(30)
  /// Percent of `max-connections` that the requests of one client may hold.
  package var maxSharePerClient = 80
  /// Percent of `max-connections` that requests for one path may hold while its answers take long.
  package var maxSharePerPath = 60
  /// Reconnects in one transfer without progress before it fails.
  package var resumeAttempts = 10
  /// A transfer that can only be replayed ends after this many times the bytes held.
  package var replayLimit = 20

  /// For `https://` URLs: whether the origin's certificate has to be right.
  package var tlsVerify = true
  /// PEM file of the authorities trusted instead of the system's.
  package var tlsCA: String?
  /// PEM files that pawl shows to an origin that asks who it is.
  package var tlsCertificate: String?
  package var tlsKey: String?
  /// What the certificate has to be for, and what is sent by SNI; `nil`: the URL's host.
  package var tlsServerName: String?
  package var tlsMinVersion = TLSSettings.Version.v12

  package init(name: String) { self.name = name }

  package var urls: [OriginURL] { nodes.map(\.url) }

  static var keys: [Key<UpstreamSection>] { nodeKeys + limitKeys + tlsKeys }

  private static var nodeKeys: [Key<UpstreamSection>] {
    [
      .entries("url", \.nodes, .originNode, empty: nil, isRequired: true, splitting: OriginNode.split),
      .scalar("balance", \.balance, .choice()),
      .scalar("max-rest", \.maxRest, .positiveTime),
      .scalar("rest-after-errors", \.restAfterErrors, .count(0...1_000_000)),
      .scalar("check-path", \.checkPath, .optional(.requestPath, word: "none")),
      .scalar("check-interval", \.checkInterval, .positiveTime),
      .scalar("check-timeout", \.checkTimeout, .positiveTime),
      .list("check-status", \.checkStatus, .statuses, empty: nil, commas: true),
      .scalar("check-fall", \.checkFall, .count(1...1000)),
      .scalar("check-rise", \.checkRise, .count(1...1000)),
    ]
  }

  private static var limitKeys: [Key<UpstreamSection>] {
    [
      .scalar("connect-timeout", \.connectTimeout, .positiveTime),
      .scalar("response-timeout", \.responseTimeout, .positiveTime),
      .scalar("idle-timeout", \.idleTimeout, .positiveTime),
      .scalar("max-connections", \.maxConnections, .count(1...60_000)),
      .scalar("max-live-connections", \.maxLiveConnections, .count(0...1_000_000)),
      .scalar("queue-timeout", \.queueTimeout, .time),
      .scalar("max-share-per-client", \.maxSharePerClient, .percentage),
      .scalar("max-share-per-path", \.maxSharePerPath, .percentage),
      .scalar("resume-attempts", \.resumeAttempts, .count(0...1_000_000)),
      .scalar("replay-limit", \.replayLimit, .count(0...1_000_000)),
    ]
  }

  private static var tlsKeys: [Key<UpstreamSection>] {
    [
      .scalar("tls-verify", \.tlsVerify, .boolean),
      .scalar("tls-ca", \.tlsCA, .optional(.path, word: "system")),
      .scalar("tls-certificate", \.tlsCertificate, .optional(.path, word: "none")),
      .scalar("tls-key", \.tlsKey, .optional(.path, word: "none")),
      .scalar("tls-server-name", \.tlsServerName, .optional(.host, word: "auto")),
      .scalar("tls-min-version", \.tlsMinVersion, .choice()),
    ]
  }
}
