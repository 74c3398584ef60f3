/// One address of an origin: `http://host:port/base`, `https://…` or a Unix socket.
package struct UpstreamURL: Hashable, Sendable {
  /// A name, a literal address without brackets, or the path of the socket when ``isUnix``.
  package var host: String
  package var port: UInt16
  /// The path that is put before every request's target; usually empty, never ends with a slash.
  package var basePath: String
  package var isUnix: Bool
  /// The name that the certificate must be valid for, in lower case, without brackets or a final dot; `nil`: no TLS.
  package var serverName: String?
  /// The weight of the node; at least 1. The node's share of the requests is this weight divided by the sum of all weights.
  package var weight = 1
  /// A backup node: used only while all nodes that are not backups rest or fail their health checks (nginx: `backup`).
  package var isBackup = false

  /// A name that no other URL of the upstream has.
  var name: String { isUnix ? "unix:\(host)" : "\(host):\(port)\(basePath)" }

  /// The `Host` of a request that pawl itself makes (RFC 9110 §7.2).
  var authority: [UInt8] {
    if isUnix { return Array("localhost".utf8) }
    let shown = host.contains(":") ? "[\(host)]" : host
    return Array((port == (serverName == nil ? 80 : 443) ? shown : "\(shown):\(port)").utf8)
  }

  package init(
    host: String, port: UInt16, basePath: String = "", isUnix: Bool = false, serverName: String? = nil
  ) {
    (self.host, self.port, self.basePath, self.isUnix) = (host, port, basePath, isUnix)
    self.serverName = serverName
  }
}

/// The settings for the choice of a node, and for when a node rests.
package struct NodeSettings: Hashable, Sendable {
  package enum Balance: Hashable, Sendable { case roundRobin, leastConnections, hash }

  package var balance = Balance.roundRobin
  /// The longest rest; the first one takes 1 s.
  package var maxRest = Duration.seconds(32)
  /// The number of errors in a row, for more than one path, after which a node rests; 0: never.
  package var restAfterErrors = 5
  /// The health checks; `nil`: none.
  package var check: NodeCheckSettings?
  /// The number of health checks in a row that have to fail before a node rests, and to pass before it works again.
  package var checkFall = 2
  package var checkRise = 2

  package init() {}
}

/// The request of health checks, and the statuses that mean that a node works.
package struct NodeCheckSettings: Hashable, Sendable {
  /// The path, appended to the node's base path; begins with a slash.
  package var path: [UInt8]
  package var interval: Duration
  /// The time from connecting to the response head.
  package var timeout: Duration
  package var statuses: [ClosedRange<Int>]

  package init(path: [UInt8], interval: Duration, timeout: Duration, statuses: [ClosedRange<Int>]) {
    (self.path, self.interval, self.timeout, self.statuses) = (path, interval, timeout, statuses)
  }
}

/// The settings of `[upstream:NAME]`: how an origin is reached, and its timeouts.
package struct UpstreamSettings: Sendable {
  package var name: String
  /// The URLs of the origin's nodes; never empty.
  package var urls: [UpstreamURL]
  /// The time to connect to one URL, for all addresses of its name together, with the TLS handshake.
  package var connectTimeout: Duration
  /// The time from the end of the request to the first byte of the response.
  package var responseTimeout: Duration
  /// The longest time without a byte within a head or content, in either direction.
  package var idleTimeout: Duration
  /// How long a request may wait for a place below ``maxConnections``.
  package var queueTimeout: Duration
  /// The most connections over all loops, including idle ones, but without event streams and tunnels; 0: no limit.
  package var maxConnections: Int
  /// The most event streams and tunnels over all loops.
  package var maxLiveConnections = 10_000
  /// How long an idle connection is kept; less than what origins commonly allow (5 s).
  package var keepalive: Duration
  /// Percent of ``maxConnections`` that one client may hold.
  package var clientShare = 100
  /// Percent of ``maxConnections`` that requests for one path may hold while the responses for that path take long.
  package var pathShare = 100
  /// How the URLs of the upstream share the requests.
  package var nodes = NodeSettings()

  package init(
    name: String, urls: [UpstreamURL], connectTimeout: Duration = .seconds(5),
    responseTimeout: Duration = .seconds(900), idleTimeout: Duration = .seconds(60),
    queueTimeout: Duration = .seconds(30), maxConnections: Int = 64, keepalive: Duration = .seconds(4)
  ) {
    precondition(!urls.isEmpty, "an upstream has at least one URL")
    (self.name, self.urls, self.connectTimeout) = (name, urls, connectTimeout)
    (self.responseTimeout, self.idleTimeout, self.queueTimeout) = (responseTimeout, idleTimeout, queueTimeout)
    (self.maxConnections, self.keepalive) = (maxConnections, keepalive)
  }
}
