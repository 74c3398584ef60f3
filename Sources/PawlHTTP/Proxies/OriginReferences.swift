/// The address of an origin, as the origin may use it for references in its responses.
package struct OriginAddress: Hashable, Sendable {
  /// A name or a literal address, without brackets.
  package var host: Bytes
  package var port: UInt16
  package var isSecure: Bool
  /// The prefix of all targets at the origin: empty, or a path without a slash at its end.
  package var base: Bytes

  package init(host: Bytes, port: UInt16, isSecure: Bool, base: Bytes) {
    (self.host, self.port, self.isSecure, self.base) = (host, port, isSecure, base)
  }
}

/// Rewrites references in a response that name the origin, so that clients send the next request to pawl.
package enum OriginReferences {
  private static let names: [FieldName] = [.location, .contentLocation]
  private static let either = FieldNameSet(names)

  /// Whether ``unbind(_:from:asked:)`` may have something to change.
  package static func areIn(_ fields: Fields) -> Bool { fields.mayContain(anyOf: either) }

  /// Replaces `Location` and `Content-Location` that name the origin by paths, which are valid on any host and scheme (RFC 9110
  /// §10.2.2). Such a reference begins with the origin's own address, or with the origin's scheme, the host of the request and
  /// the origin's port. nginx and Apache form the second kind from `Host` and their own port.
  /// - Parameter authority: the authority of the client's request. A reference to exactly this authority is left as it is.
  package static func unbind(_ fields: inout Fields, from origin: OriginAddress, asked authority: Bytes) {
    for name in names {
      guard let reference = fields.only(name), let path = path(reference, on: origin, asked: authority) else {
        continue
      }
      fields.set(name, path)
    }
  }

  /// The path, with query and fragment, of a reference to the origin; `nil` for every other reference.
  static func path(_ reference: Bytes, on origin: OriginAddress, asked authority: Bytes) -> Bytes? {
    let scheme: StaticString = origin.isSecure ? "https://" : "http://"
    let length = scheme.utf8CodeUnitCount
    // Browsers drop some bytes of a reference, which could turn the result into another reference. A reference with such bytes is
    // left unchanged.
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
    // A path with two slashes at its start would name a host (RFC 3986 §4.2); browsers treat a backslash as a slash.
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
