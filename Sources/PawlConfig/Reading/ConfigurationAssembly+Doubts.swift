/// Warnings of settings that are valid, but probably not what is meant: paths, ports, circles, directories within each other.
extension ConfigurationAssembly {
  mutating func warnOfDoubts() {
    for route in routes { checkPath(route) }
    for listener in listeners { checkPorts(listener) }
    for upstream in upstreams { checkCircle(upstream) }
    checkNesting()
  }

  // MARK: Paths

  private mutating func checkPath(_ route: ReadSection<RouteSection>) {
    let path = route.model.path
    let text = String(decoding: path.literal, as: UTF8.self)
    let settings = route.model.settings
    if settings.uploads, text.hasPrefix(settings.uploadPrefix) {
      report(
        route, "path", severity: .warning,
        "no request comes here: what begins with \(settings.uploadPrefix) are URLs of uploads (upload-prefix)")
    } else if !path.isPrefix, text.hasSuffix("/"), text != "/" {
      report(
        route, "path", severity: .warning, "is this one path only; \(text)* is the path and all below it")
    }
  }

  // MARK: Listeners

  private mutating func checkPorts(_ listener: ReadSection<ListenerSettings>) {
    let isSecure = !listener.model.tls.isEmpty
    if listener.origins["unix-mode"] != nil, !listener.model.addresses.contains(where: \.isUnix) {
      report(listener, "unix-mode", severity: .warning, "has no effect without a unix socket in address")
    }
    for (index, address) in listener.model.addresses.enumerated() {
      guard case .internet(_, let port) = address else { continue }
      if port == 443, !isSecure {
        report(
          listener, "address", element: index, severity: .warning,
          "\(address) is the port of https, and this section has no tls: browsers cannot use it")
      } else if port == 80, isSecure {
        report(
          listener, "address", element: index, severity: .warning,
          "\(address) is the port of http, and this section has tls: browsers cannot use it")
      }
    }
  }

  // MARK: Circles

  private mutating func checkCircle(_ upstream: ReadSection<UpstreamSection>) {
    for (index, node) in upstream.model.nodes.enumerated() {
      let own = listeners.first { listener in listener.model.addresses.contains { $0.takes(node.url) } }
      guard let own else { continue }
      report(
        upstream, "url", element: index, severity: .warning,
        "\(node.url) is pawl's own [\(own.label.text)]: requests would go round in a circle")
    }
  }

  // MARK: Directories

  private mutating func checkNesting() {
    var places = caches.map { (label: $0.label.text, path: FilePath.normalize($0.model.path)) }
    places += spools.map { (label: $0.label.text, path: FilePath.normalize($0.model.path)) }
    func outer(_ path: String) -> (label: String, path: String)? {
      places.first { FilePath.normalize(path).hasPrefix($0.path == "/" ? "/" : $0.path + "/") }
    }
    for cache in caches {
      guard let outer = outer(cache.model.path) else { continue }
      report(cache, "path", severity: .warning, Self.nested(cache.model.path, outer))
    }
    for spool in spools {
      guard let outer = outer(spool.model.path) else { continue }
      report(spool, "path", severity: .warning, Self.nested(spool.model.path, outer))
    }
  }

  private static func nested(_ path: String, _ outer: (label: String, path: String)) -> String {
    "\(path) is inside the directory of [\(outer.label)], \(outer.path): give each a directory of its own"
  }
}

extension ListenAddress {
  /// Whether requests to the URL come to this address, as far as the texts say. Names are not resolved.
  func takes(_ url: OriginURL) -> Bool {
    switch self {
    case .unix(let path): return url.socketPath == path
    case .inherited: return false
    case .internet(let host, let port):
      guard url.socketPath == nil, port == url.port, port != 0 else { return false }
      guard let own = NetworkAddress(host)?.plainBytes else { return false }
      let isAny = own.allSatisfy { $0 == 0 }
      if url.host == "localhost" { return isAny || Self.isLoopback(own) }
      guard let asked = NetworkAddress(url.host)?.plainBytes, asked.count == own.count else { return false }
      return asked == own || isAny && Self.isLoopback(asked) || Self.isLoopback(own) && asked.allSatisfy { $0 == 0 }
    }
  }

  private static func isLoopback(_ bytes: [UInt8]) -> Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
  }
}
