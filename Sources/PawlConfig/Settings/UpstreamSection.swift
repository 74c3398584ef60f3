/// The method of choosing the node for the next request.
package enum Balance: String, Hashable, Sendable, CaseIterable {
  case roundRobin = "round-robin"
  case leastConnections = "least-connections"
  case hash
}

/// `[upstream:NAME]`: the nodes of an application, and the limits for requests to them.
package struct UpstreamSection: Hashable, Sendable {
  package var name: String
  /// The nodes. A loaded configuration has at least one node that is no backup.
  package var nodes = [OriginNode]()
  package var balance = Balance.roundRobin
  /// The longest rest of a node. A node that refuses connections or times out rests for 1 s, then 2 s, 4 s, and so on, up to this
  /// time.
  package var maxRest = Duration.seconds(32)
  /// The number of successive responses with 500, 502, 503 or 504, to more than one path, after which a node rests; 0: never.
  package var restAfterErrors = 5
  /// The path of health checks, requested from each node again and again; `nil`: no checks.
  package var checkPath: String?
  package var checkInterval = Duration.seconds(10)
  /// The longest time of a check, from connecting to the head of the response.
  package var checkTimeout = Duration.seconds(5)
  /// The statuses with which a healthy node responds.
  package var checkStatus = [200...399]
  /// The number of successive checks that have to fail before a node rests.
  package var checkFall = 2
  /// The number of successive checks that have to pass before the node is used again.
  package var checkRise = 2
  package var connectTimeout = Duration.seconds(5)
  /// The longest time from the last byte of the request to the first byte of the response.
  package var responseTimeout = Duration.seconds(15 * 60)
  /// The longest time without a byte in the middle of a response's content. After it, the connection counts as broken.
  package var idleTimeout = Duration.seconds(60)
  /// The most connections to the nodes, all loops together. Fills may use half of this number.
  package var maxConnections = 64
  /// The most event streams and tunnels (WebSockets). They do not count towards ``maxConnections``.
  package var maxLiveConnections = 10_000
  /// How long a request waits for a connection before it is refused with 503.
  package var queueTimeout = Duration.seconds(30)
  /// The share of `max-connections` that the requests of one client may hold, in percent.
  package var maxSharePerClient = 80
  /// The share of `max-connections` that requests for one path may hold while its responses are slow, in percent.
  package var maxSharePerPath = 60
  /// The number of successive new connections without progress after which a transfer fails.
  package var resumeAttempts = 10
  /// A transfer that can only be replayed (fetched again from its first byte) fails when the replayed bytes are more than the
  /// held bytes multiplied by this factor.
  package var replayLimit = 20

  /// Whether the origin's certificate is verified (`https://`).
  package var tlsVerify = true
  /// The PEM file of the authorities that are trusted instead of the system's.
  package var tlsCA: String?
  /// PEM files of the certificate and the private key for an origin that asks for a client certificate.
  package var tlsCertificate: String?
  package var tlsKey: String?
  /// The name that the certificate is verified for, and that is sent by SNI; `nil`: the URL's host.
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
