package import PawlHTTP

/// The fields of a request by which the origin can recognise the user. Requests without such fields cannot be distinguished, and
/// count as requests of one visitor.
package enum Credentials {
  /// Whether the fields hold a credential or a cookie: `Authorization`, `Proxy-Authorization`, `Cookie`, or a field unknown to
  /// pawl whose name suggests a user (`X-Api-Key`, `X-User`). `Client-Cert` (RFC 9440) is such a field. A client's certificate
  /// counts only if it is in this field, because only then does the application get it.
  package static func areShown(in fields: Fields) -> Bool {
    fields.contains(.cookie) || fields.lines.contains { isCredential($0, of: fields) }
  }

  /// Whether the request names its user in a field by which the response is not selected. Cookies do not count, because responses
  /// that depend on them are selected by them.
  static func areShown(in fields: Fields, besides vary: VaryRule) -> Bool {
    fields.lines.contains { line in
      guard isCredential(line, of: fields) else { return false }
      let name = fields.name(line).map(\.lowercasedASCII)
      return !vary.names.contains { $0.elementsEqual(name) }
    }
  }

  private static func isCredential(_ line: FieldLine, of fields: Fields) -> Bool {
    switch line.name {
    case .authorization, .proxyAuthorization: true
    case .other: isAboutWhoAsks(fields.name(line))
    default: false
    }
  }

  /// The fields that are unknown to pawl and may matter to the application, as bytes to compare: names in lower case, sorted,
  /// with their values. Fields that browsers, other proxies and tracing set, often with a new value in each request, are left
  /// out.
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

  /// Parts of the names of fields by which applications tell their users apart.
  private static let words: [StaticString] = [
    "account", "auth", "cert", "cookie", "credential", "csrf", "identity", "jwt", "key", "login", "password", "secret",
    "session", "signature", "sso", "token", "user", "xsrf",
  ]

  private static func isAboutWhoAsks(_ spelling: Bytes) -> Bool {
    let name = spelling.map(\.lowercasedASCII)
    return !isOfBrowsers(name) && words.contains { word in name.indices.contains { name[$0...].hasPrefix(word) } }
  }

  /// Whether a field name begins with `sec-`. Scripts cannot set such fields, which describe how a browser makes the request, not
  /// its user.
  private static func isOfBrowsers(_ name: [UInt8]) -> Bool { name[...].hasPrefix("sec-") }
}
