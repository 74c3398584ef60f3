/// The options in `Connection` about the connection itself (RFC 9110 §7.6.1).
package struct ConnectionOptions: Hashable, Sendable {
  package var close = false, keepAlive = false, upgrade = false
  package init(close: Bool = false, keepAlive: Bool = false, upgrade: Bool = false) {
    (self.close, self.keepAlive, self.upgrade) = (close, keepAlive, upgrade)
  }
}

/// Fields that are for one connection only and are not forwarded (RFC 9110 §7.6.1).
package enum HopByHop {
  /// Whether `Connection` names this option; upper and lower case are the same.
  package static func isConnectionOption(_ option: some Collection<UInt8>, in fields: Fields) -> Bool {
    contains(fields) { $0.equalsIgnoringCase(option) }
  }

  package static func connectionOptions(_ fields: Fields) -> ConnectionOptions {
    var options = ConnectionOptions()
    guard fields.contains(.connection) else { return options }
    for line in fields.lines where line.name == .connection {
      for option in fields.value(line).listElements {
        if option.equalsIgnoringCase("close") { options.close = true }
        if option.equalsIgnoringCase("keep-alive") { options.keepAlive = true }
        if option.equalsIgnoringCase("upgrade") { options.upgrade = true }
      }
    }
    return options
  }

  /// Removes the fields that must not be forwarded: `Connection` and the fields it names, `Keep-Alive`, `TE`, `Trailer`,
  /// `Transfer-Encoding`, `Upgrade`, `HTTP2-Settings` and `Proxy-…`. Fields that pawl or an origin depends on stay even when
  /// `Connection` names them: `Connection: content-length` must not change where a message ends (Hygiene, "Connection options").
  package static func strip(_ fields: inout Fields) {
    let named = namedFields(fields)
    fields.removeAll(known: isHopByHop) { spelling in
      spelling.equalsIgnoringCase("proxy-authentication-info")
        || (!named.isEmpty && named.contains(spelling.map(\.lowercasedASCII)))
    }
  }

  /// The names in `Connection` whose fields may be removed, in lower case. A set, since a head may hold thousands of names.
  private static func namedFields(_ fields: Fields) -> Set<[UInt8]> {
    var names: Set<[UInt8]> = []
    guard fields.contains(.connection) else { return names }
    for line in fields.lines where line.name == .connection {
      for option in fields.value(line).listElements where !option.equalsIgnoringCase("close") && !isEndToEnd(option) {
        names.insert(option.map(\.lowercasedASCII))
      }
    }
    return names
  }

  /// Whether fields of this name are for one connection only.
  package static func isHopByHop(_ name: FieldName) -> Bool {
    switch name {
    case .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade, .http2Settings,
      .proxyAuthenticate, .proxyAuthorization:
      true
    default: false
    }
  }

  /// Whether an option names a field that must not be removed: any known field, and families of fields whose loss would change
  /// the meaning of a message.
  private static func isEndToEnd(_ option: Bytes) -> Bool {
    FieldName(option) != .other
      || protectedPrefixes.contains { prefix in
        option.prefix(prefix.utf8CodeUnitCount).equalsIgnoringCase(prefix)
      }
  }

  private static let protectedPrefixes: [StaticString] = [
    "content-", "x-forwarded-", "upload-", "access-control-", "accept-", "if-", "sec-", "client-cert",
  ]

  private static func contains(_ fields: Fields, _ isWanted: (Bytes) -> Bool) -> Bool {
    fields.lines.contains { $0.name == .connection && fields.value($0).listElements.contains(where: isWanted) }
  }
}
