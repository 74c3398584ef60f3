package import PawlHTTP

/// What in a request can tell the origin who sends it. Requests that show nothing of it are the same visitor's, as far as
/// anybody can tell.
package enum Credentials {
  /// Whether the fields show a credential or a cookie: `Authorization`, `Proxy-Authorization`, `Cookie`, or any field that
  /// pawl does not know and whose name says that it is about who asks (`X-Api-Key`, `X-User`). `Client-Cert` (RFC 9440) is
  /// one of these: a client's certificate counts where the application is told of it, and stands in the fields then.
  package static func areShown(in fields: Fields) -> Bool {
    if fields.contains(.cookie) || fields.contains(.authorization) || fields.contains(.proxyAuthorization) {
      return true
    }
    return fields.lines.contains { $0.name == .other && isAboutWhoAsks(fields.name($0)) }
  }

  /// The fields that mean nothing to pawl and may mean something to the application, as bytes to compare: their names in
  /// lower case, sorted, with their values. What browsers, other proxies and tracing put into each request anew is not there.
  package static func unknownFields(in fields: Fields) -> [UInt8] {
    let unknown = fields.lines.compactMap { line -> [UInt8]? in
      guard line.name == .other else { return nil }
      let name = fields.name(line).map(\.lowercasedASCII)
      guard !isOfBrowsers(name), !passing.contains(where: { name[...].equals($0) }) else { return nil }
      return name + [0x3a] + fields.value(line).trimmed + [0x0a]
    }
    return unknown.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
  }

  private static let passing: [StaticString] = [
    "baggage", "b3", "traceparent", "tracestate", "x-b3-parentspanid", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid",
    "x-amz-cf-id", "x-amzn-trace-id", "x-cloud-trace-context", "x-correlation-id", "cf-ray", "x-varnish",
    "accept-charset", "dnt", "priority", "save-data", "upgrade-insecure-requests",
  ]

  /// Parts of the names that applications give to what tells their users apart.
  private static let words: [StaticString] = [
    "account", "auth", "cert", "cookie", "credential", "csrf", "identity", "jwt", "key", "login", "password", "secret",
    "session", "signature", "sso", "token", "user", "xsrf",
  ]

  private static func isAboutWhoAsks(_ spelling: Bytes) -> Bool {
    let name = spelling.map(\.lowercasedASCII)
    return !isOfBrowsers(name) && words.contains { word in name.indices.contains { name[$0...].hasPrefix(word) } }
  }

  /// No script sets these: they say how a browser asks, not who sits before it.
  private static func isOfBrowsers(_ name: [UInt8]) -> Bool { name[...].hasPrefix("sec-") }
}
