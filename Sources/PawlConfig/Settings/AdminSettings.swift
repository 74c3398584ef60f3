/// `[admin]`: where pawl is asked how it is and told what to do.
package struct AdminSettings: Hashable, Sendable {
  /// The fewest characters of ``token``: 16 random ones cannot be guessed.
  package static let leastToken = 16

  /// The socket without a `listen`.
  package let usual: ListenAddress
  /// The keys whose value is never shown.
  static let secretKeys: Set<String> = ["token"]

  /// The addresses; empty: there is no admin listener (`off`).
  package var listen: [ListenAddress]
  /// The permissions of the unix sockets' files.
  package var mode = FileMode(0o600)
  /// The `[tls:NAME]` section of the TCP addresses; `nil`: they are in clear.
  package var tls: String?
  /// The token of requests over TCP (RFC 6750); `nil`: a client certificate is needed.
  package var token: Secret?
  /// Further hosts that requests may name, in lower case and without a port.
  package var allowedHosts = [String]()

  /// - Parameter stateDirectory: the directory of the default socket.
  package init(stateDirectory: String) {
    usual = .unix(path: FilePath.resolve(Self.socketName, from: stateDirectory))
    listen = [usual]
  }

  /// The name of the default socket in the state directory.
  package static let socketName = "admin.sock"

  static var keys: [Key<AdminSettings>] {
    [
      .list("listen", \.listen, .listenAddress, empty: "off", commas: true),
      .scalar("mode", \.mode, .fileMode),
      .scalar("tls", \.tls, .optional(.name, word: "none")),
      .scalar("token", \.token, .optional(.secret(least: leastToken), word: "none")),
      .list("allow-host", \.allowedHosts, .host, empty: "none", commas: true),
    ]
  }
}
