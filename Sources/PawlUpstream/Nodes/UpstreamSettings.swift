/// One address of an origin: `http://host:port/base`, `https://…` or a Unix socket.
package struct UpstreamURL: Hashable, Sendable {
  /// A name, a literal address without brackets, or the path of the socket when ``isUnix``.
  package var host: String
  package var port: UInt16
  /// Put before every request's target; usually empty, never ends with a slash.
  package var basePath: String
  package var isUnix: Bool
  /// What the certificate has to be for, lower case, without brackets or a dot at its end; `nil`: in clear.
  package var serverName: String?
  /// Its part in the requests, against the sum of all weights; at least 1.
  package var weight = 1
  /// Asked only while all that are none rest.
  package var isBackup = false

  /// What tells it from the others.
  var name: String { isUnix ? "unix:\(host)" : "\(host):\(port)\(basePath)" }

  /// As `Host` of a request of pawl's own (RFC 9110 §7.2).
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

/// Which node of an upstream is asked, and when one rests.
package struct NodeSettings: Hashable, Sendable {
  package enum Balance: Hashable, Sendable { case roundRobin, leastConnections, hash }

  package var balance = Balance.roundRobin
  /// The longest rest; the first is 1 s.
  package var maxRest = Duration.seconds(32)
  /// Errors in a row, to more than one path, after which a node rests; 0: never.
  package var restAfterErrors = 5
  /// `nil`: nobody asks whether they work.
  package var check: NodeCheckSettings?
  /// Checks in a row that have to fail before a node rests, and to pass before it works again.
  package var checkFall = 2
  package var checkRise = 2

  package init() {}
}

/// What a node is asked again and again, and what says that it works.
package struct NodeCheckSettings: Hashable, Sendable {
  /// Behind the node's base path; begins with a slash.
  package var path: [UInt8]
  package var interval: Duration
  /// From connecting to the head of the answer.
  package var timeout: Duration
  package var statuses: [ClosedRange<Int>]

  package init(path: [UInt8], interval: Duration, timeout: Duration, statuses: [ClosedRange<Int>]) {
    (self.path, self.interval, self.timeout, self.statuses) = (path, interval, timeout, statuses)
  }
}

/// `[upstream:NAME]`: how an origin is reached and how long it may take.
package struct UpstreamSettings: Sendable {
  package var name: String
  /// Never empty.
  package var urls: [UpstreamURL]
  /// For one URL with all addresses of its name, TLS handshake included.
  package var connectTimeout: Duration
  /// From the request being fully sent to the first byte of the answer.
  package var responseTimeout: Duration
  /// Without a byte inside a head or body, in either direction.
  package var idleTimeout: Duration
  /// How long a request may wait for a place below ``maxConnections``.
  package var queueTimeout: Duration
  /// Connections over all loops, idle ones included, event streams and tunnels not; 0: no limit.
  package var maxConnections: Int
  /// Event streams and tunnels over all loops.
  package var maxLiveConnections = 10_000
  /// How long an idle connection is kept; less than what origins commonly allow (5 s).
  package var keepalive: Duration
  /// Percent of ``maxConnections`` that one client may hold.
  package var clientShare = 100
  /// Percent of ``maxConnections`` that requests for one path may hold while its answers take long.
  package var pathShare = 100
  /// How its URLs share the requests.
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
