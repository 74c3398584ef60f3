import PawlCertificates
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTLS
import PawlUpstream

/// The upstreams of a configuration. Unchanged upstreams are kept over a reload, with their connections. A changed one has new
/// connections, and the health of the nodes that stay.
struct Upstreams {
  typealias Entry = (settings: UpstreamSection, upstream: Upstream)

  private(set) var upstreams: [String: Entry] = [:]
  /// The TLS contexts that the new connections of kept upstreams are to use.
  private var certificates: [(upstream: Upstream, context: TLSClientContext)] = []

  /// Makes the upstreams. Reads the certificate files of all https upstreams, including the kept ones. Blocking: never call this
  /// on a loop.
  init(
    _ configuration: PawlConfig.Configuration, resolver: Resolver, events: EventLog, clock: any LoopClock,
    old: [String: Entry]?
  ) throws(ServerError) {
    for settings in configuration.upstreams {
      let context = try Self.context(settings)
      if let same = old?[settings.name], same.settings == settings {
        upstreams[settings.name] = same
        if let context { certificates.append((same.upstream, context)) }
      } else {
        let log = OriginFailureLog(
          upstream: settings.name, nodes: settings.nodes.map { "\($0.url)" }, events: events, clock: clock)
        let upstream = Upstream(
          settings.forPool, resolver: resolver, tls: context, report: { log.note($0) },
          news: { Self.tell($0, of: settings, events) },
          trouble: { log.note($0) }, serverErrors: { log.note($0) })
        if let former = old?[settings.name] { upstream.adoptHealth(of: former.upstream) }
        upstreams[settings.name] = (settings, upstream)
      }
    }
  }

  /// Replaces the TLS contexts of kept upstreams. Called when no other part of the reload can fail any more.
  func takeCertificates() {
    for entry in certificates { entry.upstream.replaceTLS(entry.context) }
  }

  private static func tell(_ news: NodeNews, of settings: UpstreamSection, _ events: EventLog) {
    events.log(
      news.isUp ? .notice : .warning, news.isUp ? "node-up" : "node-down",
      ["upstream": settings.name, "url": "\(settings.nodes[news.url].url)", "why": news.why])
  }

  private static func context(_ settings: UpstreamSection) throws(ServerError) -> TLSClientContext? {
    guard let tls = settings.forTLS else { return nil }
    do throws(TLSProblem) {
      return try TLSClientContext(tls)
    } catch { throw .certificates("[upstream:\(settings.name)] \(error)", file: error.file) }
  }
}

extension UpstreamSection {
  var forPool: UpstreamSettings {
    var made = UpstreamSettings(
      name: name,
      urls: nodes.map(upstreamURL), connectTimeout: connectTimeout, responseTimeout: responseTimeout,
      idleTimeout: idleTimeout,
      queueTimeout: queueTimeout, maxConnections: maxConnections)
    made.maxLiveConnections = maxLiveConnections
    (made.clientShare, made.pathShare) = (maxSharePerClient, maxSharePerPath)
    made.nodes = nodeSettings
    return made
  }

  private func upstreamURL(_ node: OriginNode) -> UpstreamURL {
    let url = node.url
    var made = UpstreamURL(
      host: url.socketPath ?? url.host, port: url.port, basePath: url.basePath, isUnix: url.socketPath != nil,
      serverName: url.isTLS ? Self.bareName(tlsServerName ?? url.host) : nil)
    (made.weight, made.isBackup) = (node.weight, node.isBackup)
    return made
  }

  private var nodeSettings: NodeSettings {
    var made = NodeSettings()
    made.balance =
      switch balance {
      case .roundRobin: .roundRobin
      case .leastConnections: .leastConnections
      case .hash: .hash
      }
    (made.maxRest, made.restAfterErrors) = (maxRest, restAfterErrors)
    (made.checkFall, made.checkRise) = (checkFall, checkRise)
    made.check = checkPath.map { path in
      NodeCheckSettings(
        path: Array(path.utf8), interval: checkInterval, timeout: checkTimeout, statuses: checkStatus)
    }
    return made
  }

  /// Returns a host without brackets, and without the final dot, which no certificate has.
  private static func bareName(_ host: String) -> String {
    var name = host[...]
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    if name.hasSuffix(".") { name = name.dropLast() }
    return name.lowercased()
  }
}
