import PawlBase

/// Writes the fields that tell the origin about the client's connection to pawl: `X-Forwarded-For`, `-Proto`, `-Host`, `-Port`
/// and `X-Real-IP`.
///
/// Such fields of an untrusted client are removed, with `Forwarded` (RFC 7239) and every other `X-Forwarded-…`. Fields of a
/// trusted proxy are kept; the client's address is appended to `X-Forwarded-For`, and missing fields are added.
/// - Parameters:
///   - client: the peer's address as text, without a port and without brackets.
///   - scheme: `http` or `https`, of the client's request.
///   - host: host and perhaps port as the client named them; empty when it named none.
///   - port: the local port of the client's connection.
///   - peerIsTrusted: whether the peer is in `trusted-proxies`.
package func applyForwarded(
  to fields: inout Fields, client: Bytes, scheme: StaticString, host: Bytes, port: UInt16, peerIsTrusted: Bool
) {
  if !peerIsTrusted { removeForwarded(from: &fields) }
  if let chain = fields.combined(.xForwardedFor) {
    fields.set(.xForwardedFor, chain + [0x2c, 0x20] + client)
  } else {
    fields.append(.xForwardedFor, client)
  }
  if fields.contains(.forwarded) { fields.append(.forwarded, forwardedElement(client, scheme, host)) }
  if !fields.contains(.xForwardedProto) { fields.append(.xForwardedProto, literal: scheme) }
  if !fields.contains(.xForwardedHost), !host.isEmpty { fields.append(.xForwardedHost, host) }
  if !fields.contains(.xForwardedPort) {
    var digits: [UInt8] = []
    digits.append(decimal: UInt64(port))
    fields.append(.xForwardedPort, digits)
  }
  if !fields.contains(.xRealIP) { fields.append(.xRealIP, client) }
}

/// Removes the fields in which an untrusted client describes its address, scheme, host or port.
package func removeForwarded(from fields: inout Fields) {
  fields.removeAll(known: forwardedNames.contains, others: isForwardedClaim)
}

/// The fields that ``applyForwarded(to:client:scheme:host:port:peerIsTrusted:)`` writes or completes.
package let forwardedNames = FieldNameSet([
  .forwarded, .xRealIP, .xForwardedFor, .xForwardedProto, .xForwardedHost, .xForwardedPort,
])

/// Whether an unknown field is about the client's address, scheme, host or port. An underscore counts as a hyphen, since CGI and
/// WSGI make the same variable of both.
package func isForwardedClaim(_ spelling: Bytes) -> Bool {
  starts(spelling, with: "x-forwarded-")
    || others.contains { spelling.count == $0.utf8CodeUnitCount && starts(spelling, with: $0) }
}

private let others: [StaticString] = ["x-real-ip", "x-forwarded", "front-end-https", "x-url-scheme", "x-scheme"]

private func starts(_ name: Bytes, with prefix: StaticString) -> Bool {
  name.count >= prefix.utf8CodeUnitCount
    && prefix.withUTF8Buffer { zip(name, $0).allSatisfy { ($0 == 0x5f ? 0x2d : $0.lowercasedASCII) == $1 } }
}

/// `for=192.0.2.1;proto=http;host="example.org:8080"` (RFC 7239 §4, §6)
private func forwardedElement(_ client: Bytes, _ scheme: StaticString, _ host: Bytes) -> [UInt8] {
  var output: [UInt8] = []
  output.append("for=" as StaticString)
  if client.contains(0x3a) {
    output.append("\"[" as StaticString)
    output.append(contentsOf: client)
    output.append("]\"" as StaticString)
  } else if !client.isEmpty, client.allSatisfy(ByteSet.token.contains) {
    output.append(contentsOf: client)
  } else {
    output.append("unknown" as StaticString)
  }
  output.append(";proto=" as StaticString)
  output.append(scheme)
  if !host.isEmpty {
    output.append(";host=\"" as StaticString)
    output.append(contentsOf: host.filter { $0 != 0x22 && $0 != 0x5c })
    output.append(0x22)
  }
  return output
}
