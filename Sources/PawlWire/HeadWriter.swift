package import PawlHTTP

/// What a response says about its connection (RFC 9112 §9).
package enum ConnectionHeader: Hashable, Sendable {
  /// Nothing for an HTTP/1.1 client, `Connection: keep-alive` for HTTP/1.0.
  case keepAlive
  case close
  /// `Connection: upgrade`; the `Upgrade` field is among the fields.
  case upgrade
}

/// Writes heads from their parsed form: canonical line ends, pawl's own version, one `Host`, exactly one framing
/// field or none (protocols.md 8.3).
package enum HeadWriter {
  /// The head of a request to an origin. `Host` is the field of that name, or else the authority. Which fields
  /// go hop by hop is the caller's knowledge; `Connection` and `Upgrade` are written as they stand.
  package static func write(_ head: RequestHead, into output: inout [UInt8]) {
    output.reserveCapacity(output.count + head.fields.storage.count + head.target.count + 128)
    head.method.append(to: &output)
    output.append(Octet.space)
    output.append(contentsOf: head.target)
    output.append(" HTTP/1.1\r\nHost: " as StaticString)
    output.append(contentsOf: head.fields.first(.host) ?? head.authority)
    output.append("\r\n" as StaticString)
    appendFraming(head.framing, into: &output)
    head.fields.serialize(into: &output) { name in
      switch name {
      case .host, .contentLength, .transferEncoding: true
      default: false
      }
    }
    output.append("\r\n" as StaticString)
  }

  /// The head of a response to a client.
  /// - Parameters:
  ///   - framing: `.none` writes no framing field: for 1xx, 204, 304 and answers to HEAD whose length is not known.
  ///     An empty body is `.length(0)`. `.untilClose` needs `.close`.
  ///   - version: the client's.
  package static func write(
    _ head: ResponseHead, framing: BodyFraming, connection: ConnectionHeader, to version: HTTPVersion = .http11,
    into output: inout [UInt8]
  ) {
    output.reserveCapacity(output.count + head.fields.storage.count + head.reason.count + 128)
    output.append("HTTP/1.1 " as StaticString)
    output.append(decimal: UInt64(max(0, head.status)))
    output.append(Octet.space)
    if head.reason.isEmpty {
      output.append(reasonPhrase(head.status))
    } else {
      output.append(contentsOf: head.reason)
    }
    output.append("\r\n" as StaticString)
    head.fields.serialize(into: &output) { name in
      switch name {
      case .connection, .keepAlive, .proxyConnection, .contentLength, .transferEncoding: true
      default: false
      }
    }
    appendFraming(framing, into: &output)
    append(connection, to: version, into: &output)
    output.append("\r\n" as StaticString)
  }

  private static func append(_ connection: ConnectionHeader, to version: HTTPVersion, into output: inout [UInt8]) {
    switch connection {
    case .keepAlive where version == .http10: output.append("Connection: keep-alive\r\n" as StaticString)
    case .keepAlive: break
    case .close: output.append("Connection: close\r\n" as StaticString)
    case .upgrade: output.append("Connection: upgrade\r\n" as StaticString)
    }
  }

  private static func appendFraming(_ framing: BodyFraming, into output: inout [UInt8]) {
    switch framing {
    case .none, .untilClose: break
    case .chunked: output.append("Transfer-Encoding: chunked\r\n" as StaticString)
    case .length(let count):
      output.append("Content-Length: " as StaticString)
      output.append(decimal: count)
      output.append("\r\n" as StaticString)
    }
  }
}
