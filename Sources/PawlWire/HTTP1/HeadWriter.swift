package import PawlHTTP

/// The `Connection` field of a response (RFC 9112 §9).
package enum ConnectionHeader: Hashable, Sendable {
  /// Nothing for an HTTP/1.1 client, `Connection: keep-alive` for HTTP/1.0.
  case keepAlive
  case close
  /// `Connection: upgrade`; the `Upgrade` field is among the fields.
  case upgrade
}

/// Writes heads from their parsed form: CRLF line ends, pawl's own version, one `Host`, and one framing field or none
/// (RFC 9112 §2, §6).
package enum HeadWriter {
  /// Writes the head of a request to an origin. `Host` is the field of that name, or else the authority. The caller removes
  /// hop-by-hop fields; `Connection` and `Upgrade` are written as they are.
  package static func write(_ head: RequestHead, into output: inout [UInt8]) {
    let host = head.fields.first(.host) ?? head.authority
    let room = head.method.count + head.target.count + host.count + head.fields.serializedRoom + fixedRoom
    output.append(atMost: room) { output in
      head.method.write(to: &output)
      output.put(Byte.space)
      output.put(head.target)
      output.put(" HTTP/1.1\r\nHost: ")
      output.put(host)
      output.put("\r\n")
      write(head.framing, into: &output)
      head.fields.serialize(into: &output) { name in
        switch name {
        case .host, .contentLength, .transferEncoding: true
        default: false
        }
      }
      output.put("\r\n")
    }
  }

  /// The most bytes of a head's literals and numbers and of a reason phrase of pawl.
  private static let fixedRoom = 256

  /// Writes the head of a response to a client.
  /// - Parameters:
  ///   - framing: `.none` writes no framing field: for 1xx, 204, 304 and responses to HEAD of unknown length. An empty body is
  ///     `.length(0)`. `.untilClose` needs the connection `.close`.
  ///   - version: the version of the client.
  package static func write(
    _ head: ResponseHead, framing: BodyFraming, connection: ConnectionHeader, to version: HTTPVersion = .http11,
    into output: inout [UInt8]
  ) {
    output.append(atMost: head.reason.count + head.fields.serializedRoom + fixedRoom) { output in
      output.put("HTTP/1.1 ")
      output.put(decimal: UInt64(max(0, head.status)))
      output.put(Byte.space)
      if head.reason.isEmpty {
        output.put(reasonPhrase(head.status))
      } else {
        output.put(head.reason)
      }
      output.put("\r\n")
      head.fields.serialize(into: &output) { name in
        switch name {
        case .connection, .keepAlive, .proxyConnection, .contentLength, .transferEncoding: true
        default: false
        }
      }
      write(framing, into: &output)
      write(connection, to: version, into: &output)
      output.put("\r\n")
    }
  }

  private static func write(_ connection: ConnectionHeader, to version: HTTPVersion, into output: inout ByteWriter) {
    switch connection {
    case .keepAlive where version == .http10: output.put("Connection: keep-alive\r\n")
    case .keepAlive: break
    case .close: output.put("Connection: close\r\n")
    case .upgrade: output.put("Connection: upgrade\r\n")
    }
  }

  private static func write(_ framing: BodyFraming, into output: inout ByteWriter) {
    switch framing {
    case .none, .untilClose: break
    case .chunked: output.put("Transfer-Encoding: chunked\r\n")
    case .length(let count):
      output.put("Content-Length: ")
      output.put(decimal: count)
      output.put("\r\n")
    }
  }
}
