import PawlConfig
import PawlLoop
import PawlObserve

/// Connects once to each URL of the upstreams when pawl starts, and logs whether it takes the connection. No byte is sent, and
/// the result changes nothing: requests find out by themselves. On one loop.
final class UpstreamGreeting {
  /// The longest time for one address; shorter where `connect-timeout` is.
  static let patience = Duration.seconds(2)
  /// The most URLs that are tried, so that a start makes no storm of connections.
  static let most = 64

  private let upstream: String
  private let url: OriginURL
  private let timeout: Duration
  private let loop: EventLoop
  private let events: EventLog
  private let start: Monotonic

  private init(_ section: UpstreamSection, _ url: OriginURL, _ loop: EventLoop, _ events: EventLog) {
    (upstream, self.url, self.loop, self.events) = (section.name, url, loop, events)
    timeout = min(section.connectTimeout, Self.patience)
    start = loop.now
  }

  /// Begins to connect, on the loop; returns at once.
  static func begin(_ upstreams: [UpstreamSection], on loop: EventLoop, _ resolver: Resolver, _ events: EventLog) {
    // Without a level that shows them, there is no need to connect.
    guard events.isEnabled(.warning) else { return }
    let asked = asked(of: upstreams)
    loop.run { for (section, url) in asked { UpstreamGreeting(section, url, loop, events).resolve(resolver) } }
  }

  static func asked(of upstreams: [UpstreamSection]) -> [(section: UpstreamSection, url: OriginURL)] {
    Array(upstreams.flatMap { section in section.urls.map { (section, $0) } }.prefix(most))
  }

  private func resolve(_ resolver: Resolver) {
    if let path = url.socketPath {
      guard let address = SocketAddress.unix(path: path) else { return saySilent("no socket path") }
      return connect([address])
    }
    resolver.resolve(host: url.host, port: url.port, on: loop) { [self] result in
      switch result {
      case .success(let addresses): connect(addresses[...])
      case .failure(let error): saySilent("\(url.host): \(error)")
      }
    }
  }

  private func connect(_ addresses: ArraySlice<SocketAddress>) {
    guard let address = addresses.first else { return saySilent("\(url.host) has no address") }
    Connector.connect(to: address, loop: loop, timeout: timeout) { [self] result in
      switch result {
      case .success(let stream):
        stream.close()
        let milliseconds = (loop.now - start) / .milliseconds(1)
        events.log(
          .info, "upstream-answers",
          ["upstream": upstream, "url": "\(url)", "address": "\(address)", "after": "\(Int(milliseconds))ms"])
      case .failure(let error):
        guard addresses.count > 1 else { return saySilent("\(address): \(error)") }
        connect(addresses.dropFirst())
      }
    }
  }

  private func saySilent(_ why: String) {
    events.log(.warning, "upstream-silent", ["upstream": upstream, "url": "\(url)", "why": why])
  }
}
