/// How an origin is reached: what it may call itself in its answers.
package struct OriginAddress: Hashable, Sendable {
  /// A name or a literal address, without brackets.
  package var host: Bytes
  package var port: UInt16
  package var isSecure: Bool
  /// What stands before every target there: empty, or a path without a slash at its end.
  package var base: Bytes

  package init(host: Bytes, port: UInt16, isSecure: Bool, base: Bytes) {
    (self.host, self.port, self.isSecure, self.base) = (host, port, isSecure, base)
  }
}

/// References in an answer that name the origin where its clients are to name pawl.
package enum OriginReferences {
  private static let names: [FieldName] = [.location, .contentLocation]
  private static let either = FieldNameSet(names)

  /// Whether there may be something for ``unbind(_:from:asked:)`` to do.
  package static func areIn(_ fields: Fields) -> Bool { fields.mayContain(anyOf: either) }

  /// Makes `Location` and `Content-Location` that lead to the origin past pawl into paths, which mean the same on whatever host
  /// and scheme the client asked (RFC 9110 §10.2.2): those that begin with the origin's own address, or with its scheme and port
  /// on the host that was asked, as nginx and Apache make them of `Host` and the port they listen on.
  /// - Parameter authority: what the client asked for. A reference that names just this is right as it is.
  package static func unbind(_ fields: inout Fields, from origin: OriginAddress, asked authority: Bytes) {
    for name in names {
      guard let reference = fields.only(name), let path = path(reference, on: origin, asked: authority) else {
        continue
      }
      fields.set(name, path)
    }
  }

  /// The path (with query and fragment) of a reference to the origin; `nil` for every other reference.
  static func path(_ reference: Bytes, on origin: OriginAddress, asked authority: Bytes) -> Bytes? {
    let scheme: StaticString = origin.isSecure ? "https://" : "http://"
    let length = scheme.utf8CodeUnitCount
    // What a browser would leave out of a reference could make another one of it.
    guard reference.prefix(length).equalsIgnoringCase(scheme), reference.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else { return nil }
    let named = reference.dropFirst(length).prefix { !isDelimiter($0) }
    guard !named.equalsIgnoringCase(authority), isOrigin(named, origin, authority) else { return nil }
    let rest = reference[named.endIndex...]
    guard rest.starts(with: origin.base) else { return nil }
    let path = rest.dropFirst(origin.base.count)
    guard let first = path.first else { return [0x2f] }
    guard isDelimiter(first) else { return nil }
    guard first == 0x2f else { return [0x2f] + path }
    // Two slashes would begin with a host (RFC 3986 §4.2); browsers take a backslash for one.
    let second = path.dropFirst().first
    return second == 0x2f || second == 0x5c ? [0x2f, 0x2e] + path : path
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    byte == 0x2f || byte == 0x3f || byte == 0x23 || byte == 0x5c
  }

  private static func isOrigin(_ named: Bytes, _ origin: OriginAddress, _ authority: Bytes) -> Bool {
    guard let named = Authority.parseHost(named) else { return false }
    let host = Authority.hostOnly(named)
    guard (Authority.port(of: named) ?? (origin.isSecure ? 443 : 80)) == origin.port else { return false }
    return host.equalsIgnoringCase(Authority.hostOnly(authority))
      || withoutBrackets(host).equalsIgnoringCase(origin.host)
  }

  private static func withoutBrackets(_ host: Bytes) -> Bytes {
    host.first == 0x5b && host.last == 0x5d ? host.dropFirst().dropLast() : host
  }
}
