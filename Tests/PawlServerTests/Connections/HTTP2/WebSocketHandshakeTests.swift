import PawlHTTP
import PawlWire
import Testing

@testable import PawlServer

@Suite("The handshake of a WebSocket") struct WebSocketHandshakeTests {
  private static let key = Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)

  private func asked(_ name: String = "websocket") -> HTTP2Request {
    HTTP2Request(head: RequestHead(method: .connect, target: Bytes("/c"), version: .http2), protocol: Bytes(name))
  }

  private func switching(_ accept: String, _ upgrade: String = "websocket", status: Int = 101) -> ResponseHead {
    var head = ResponseHead(status: status)
    head.fields.append(.upgrade, upgrade)
    head.fields.append(.secWebSocketAccept, accept)
    head.fields.append(.secWebSocketProtocol, "chat")
    return head
  }

  @Test("is made of an extended CONNECT for a WebSocket and of nothing else")
  func made() {
    #expect(WebSocketHandshake(asked()) != nil && WebSocketHandshake(asked("WebSocket")) != nil)
    #expect(WebSocketHandshake(asked("connect-udp")) == nil)
    #expect(WebSocketHandshake(HTTP2Request(head: RequestHead(method: .connect, target: Bytes("/")))) == nil)
    #expect(WebSocketHandshake(asked())?.key.count == 24)
    #expect(WebSocketHandshake(asked())?.key != WebSocketHandshake(asked())?.key)
  }

  @Test("asks with a key and version of its own")
  func asks() throws {
    let handshake = try #require(WebSocketHandshake(asked(), key: Self.key))
    var head = asked().head
    head.framing = .chunked
    head.fields.append(.secWebSocketKey, "theirs")
    let request = handshake.request(head)
    #expect(request.method == .get && request.framing == .none)
    #expect(request.fields.all(.secWebSocketKey).map { Array($0) } == [Self.key])
    #expect(request.fields.first(.secWebSocketVersion)?.text == "13")
    #expect(request.fields.first(.upgrade)?.text == "websocket" && request.fields.first(.connection)?.text == "Upgrade")
  }

  @Test("is answered by the digest of RFC 6455 §1.3 alone")
  func answered() throws {
    let handshake = try #require(WebSocketHandshake(asked(), key: Self.key))
    let right = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    let answer = try #require(handshake.answer(to: switching(right)))
    #expect(answer.status == 200 && answer.fields.count == 1 && answer.fields.contains(.secWebSocketProtocol))
    #expect(handshake.answer(to: switching("s3pPLMBiTxaQ9kYGzzhZRbK+xO0=")) == nil)
    #expect(handshake.answer(to: switching(right, "h2c")) == nil)
    #expect(handshake.answer(to: switching(right, status: 200)) == nil)
  }
}
