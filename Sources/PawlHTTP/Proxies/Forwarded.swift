import PawlBase

/// Tells the origin who asked, how and where: writes `X-Forwarded-For`, `-Proto`, `-Host`, `-Port` and `X-Real-IP`.
///
/// What a stranger sent in such fields, `Forwarded` (RFC 7239) and every other `X-Forwarded-…` included, is removed.
/// A trusted peer's is kept: the client's address is added to its list, the rest completed.
/// - Parameters:
///   - client: the peer's address as text, without a port and without brackets.
///   - scheme: `http` or `https`, as the request came.
///   - host: host and perhaps port as the client named them; empty when it named none.
///   - port: the port pawl was reached at.
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

/// Removes what a stranger says of who asked, how and where.
package func removeForwarded(from fields: inout Fields) {
  fields.removeAll(known: forwardedNames.contains, others: isForwardedClaim)
}

/// The names of which ``applyForwarded(to:client:scheme:host:port:peerIsTrusted:)`` completes what is there.
package let forwardedNames = FieldNameSet([
  .forwarded, .xRealIP, .xForwardedFor, .xForwardedProto, .xForwardedHost, .xForwardedPort,
])

/// Whether a field without a ``FieldName`` says who asked, how or where. An underscore counts as a hyphen: behind CGI and WSGI both
/// become the same variable.
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
