import PawlCertificates
import PawlConfig
import PawlLoop
import PawlObserve
import PawlTLS

/// Says in the event log, when pawl starts, what it is about to do: where it listens, and what will not work. Whether each
/// upstream answers is said as soon as it is known. Caches and spools say by themselves that they were opened.
struct StartReport {
  private let configuration: Configuration
  private let events: EventLog

  init(_ configuration: Configuration, _ events: EventLog) {
    (self.configuration, self.events) = (configuration, events)
  }

  /// Writes the report of a server that has just started. Blocking; on the main thread.
  static func write(of server: Server) {
    let report = StartReport(server.configuration, server.events)
    report.sayListeners(server.urls) { server.certificates.of($0)?.current.certificates ?? [] }
    report.sayWhatWillNotWork()
    guard let first = server.loops.first else { return }
    UpstreamGreeting.begin(server.configuration.upstreams, on: first.loop, server.resolver, server.events)
  }

  /// - Parameter urls: the addresses, as they were bound, in the order of the listen sections.
  func sayListeners(_ urls: [String], certificates: (ListenerSettings) -> [CertificateFacts]) {
    let listeners = configuration.listeners.flatMap { Array(repeating: $0, count: $0.addresses.count) }
    for (listener, url) in zip(listeners, urls) {
      guard !listener.tls.isEmpty else {
        events.log(.notice, "listening", ["url": url, "listen": listener.name])
        continue
      }
      let facts = certificates(listener)
      events.log(
        .notice, "listening",
        ["url": url, "listen": listener.name, "names": Self.list(facts.flatMap(\.names), most: Self.mostNames)])
    }
  }

  /// The most names of certificates in one line.
  static let mostNames = 8

  /// Returns the different names, separated by commas; beyond `most` only their number.
  static func list(_ names: [String], most: Int) -> String {
    var (seen, shown) = (Set<String>(), [String]())
    for name in names where seen.insert(name).inserted { shown.append(name) }
    let text = shown.prefix(most).joined(separator: ", ")
    return shown.count > most ? "\(text) and \(shown.count - most) more" : text
  }

  func sayWhatWillNotWork() {
    for cache in configuration.caches {
      if let why = StoreRoom.lacks(cache) { say("cache:\(cache.name)", why) }
    }
    for spool in configuration.spools {
      if let why = StoreRoom.lacks(spool) { say("spool:\(spool.name)", why) }
      if let why = StoreRoom.forgets(spool) { say("spool:\(spool.name)", why) }
    }
    for listener in configuration.listeners where isOpenInClear(listener) {
      say("listen:\(listener.name)", "no tls: anyone on the way can read and change what clients get", .notice)
    }
  }

  /// Whether clients of other machines reach the listener in clear, with no proxy before it that could speak TLS.
  private func isOpenInClear(_ listener: ListenerSettings) -> Bool {
    guard listener.tls.isEmpty, configuration.process.trustedProxies.isEmpty else { return false }
    return listener.addresses.contains { address in
      guard case .internet = address, let parsed = SocketAddress.parse(address.description) else { return false }
      return !parsed.isLoopback
    }
  }

  private func say(_ section: String, _ why: String, _ level: LogLevel = .warning) {
    events.log(level, "will-not-work", ["section": "[\(section)]", "why": why])
  }
}
