/// A program whose configuration people may have in mind, or in their file. Each has a table: its words, each with the key that
/// pawl has for it, or the reason why there is none.
enum ForeignProgram: CaseIterable {
  case nginx, haproxy, caddy, varnish, apache, trafficServer, squid

  var name: String {
    switch self {
    case .nginx: "nginx"
    case .haproxy: "HAProxy"
    case .caddy: "Caddy"
    case .varnish: "Varnish"
    case .apache: "Apache"
    case .trafficServer: "Traffic Server"
    case .squid: "Squid"
    }
  }

  /// The words as that program writes them. A `*` at the end stands for any rest; ` {` at the end, for the word before a block.
  var words: KeyValuePairs<String, String> {
    switch self {
    case .nginx: Self.nginxWords
    case .haproxy: Self.haproxyWords
    case .caddy: Self.caddyWords
    case .varnish: Self.varnishWords
    case .apache: Self.apacheWords
    case .trafficServer: Self.trafficServerWords
    case .squid: Self.squidWords
    }
  }

  /// How a line ends or begins in that program's configuration.
  enum Style { case semicolons, braces, tags, plain }

  var style: Style {
    switch self {
    case .nginx, .varnish: .semicolons
    case .caddy: .braces
    case .apache: .tags
    case .haproxy, .trafficServer, .squid: .plain
    }
  }
}
