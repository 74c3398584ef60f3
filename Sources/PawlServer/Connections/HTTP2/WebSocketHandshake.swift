import COpenSSL
import PawlBase
import PawlHTTP
import PawlLoop
import PawlWire

/// Translates the handshake of a WebSocket: from the client's extended CONNECT (RFC 8441 §5) to the origin's HTTP/1.1 upgrade
/// (RFC 6455 §4).
struct WebSocketHandshake {
  private static let identifier: StaticString = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
  let key: [UInt8]

  /// Returns `nil` if the request is not for a WebSocket.
  init?(_ request: HTTP2Request, key: [UInt8] = Base64.encode(Randomness.bytes(16))) {
    guard let name = request.protocol, name.equalsIgnoringCase("websocket") else { return nil }
    self.key = key
  }

  /// Returns the request for the origin: a GET with an upgrade, and with the `Sec-WebSocket-Key` and version of this hop.
  func request(_ head: RequestHead) -> RequestHead {
    var head = head
    head.method = .get
    head.framing = .none
    for name in [FieldName.contentLength, .expect] { head.fields.removeAll(name) }
    head.fields.set(.connection, "Upgrade")
    head.fields.set(.upgrade, "websocket")
    head.fields.set(.secWebSocketKey, key)
    if !head.fields.contains(.secWebSocketVersion) { head.fields.append(.secWebSocketVersion, "13") }
    return head
  }

  /// Returns the 200 for the client that corresponds to the origin's 101; `nil` when the response does not accept this handshake.
  func answer(to head: ResponseHead) -> ResponseHead? {
    guard head.status == 101,
      head.fields.only(.secWebSocketAccept)?.trimmed.elementsEqual(Self.accept(for: key)) == true,
      head.fields.only(.upgrade)?.trimmed.equalsIgnoringCase("websocket") == true
    else { return nil }
    var answer = ResponseHead(status: 200, fields: head.fields)
    for name in [FieldName.upgrade, .connection, .secWebSocketAccept] { answer.fields.removeAll(name) }
    return answer
  }

  /// Returns the Base64 text of the SHA-1 of ``key`` and the protocol's identifier (RFC 6455 §4.2.2).
  static func accept(for key: [UInt8]) -> [UInt8] {
    var text = key
    text.append(identifier)
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_Digest(text, text.count, &digest, &count, EVP_sha1(), nil) == 1 else { return [] }
    return Base64.encode(digest[..<Int(count)])
  }
}
