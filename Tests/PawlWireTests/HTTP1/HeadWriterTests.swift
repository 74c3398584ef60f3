import PawlHTTP
import PawlWire
import Testing

@Suite("Head writer (Hygiene, \"What pawl writes\")") struct HeadWriterTests {
  private static func fields(_ lines: (String, String)...) -> Fields {
    var fields = Fields()
    for (name, value) in lines { fields.append(named: Array(name.utf8), Array(value.utf8)) }
    return fields
  }

  private static func write(_ head: RequestHead) -> String {
    var output: [UInt8] = []
    HeadWriter.write(head, into: &output)
    return output[...].text
  }

  private static func write(
    _ head: ResponseHead, _ framing: BodyFraming, _ connection: ConnectionHeader = .keepAlive,
    to version: HTTPVersion = .http11
  ) -> String {
    var output: [UInt8] = []
    HeadWriter.write(head, framing: framing, connection: connection, to: version, into: &output)
    return output[...].text
  }

  @Test("writes a request with one Host first and one framing field")
  func request() {
    let fields = Self.fields(
      ("Accept", "x"), ("Host", "b"), ("host", "c"), ("content-length", "9"), ("Transfer-Encoding", "gzip"), ("X_y", "")
    )
    var head = RequestHead(
      method: .post, target: Bytes("/p?q"), authority: Bytes("a"), version: .http10, fields: fields, framing: .length(5)
    )
    #expect(Self.write(head) == "POST /p?q HTTP/1.1\r\nHost: b\r\nContent-Length: 5\r\nAccept: x\r\nX_y: \r\n\r\n")
    head.framing = .chunked
    head.fields = Fields()
    #expect(Self.write(head) == "POST /p?q HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    head.framing = .none
    head.method = .other(Array("BREW".utf8))
    #expect(Self.write(head) == "BREW /p?q HTTP/1.1\r\nHost: a\r\n\r\n")
  }

  @Test("a length with leading zeros is forwarded in its canonical form (Hygiene, \"invalid length\")")
  func canonical() {
    let bytes = latin("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\n")
    var parser = RequestParser()
    #expect(parser.parse(bytes, 0..<bytes.count) == .head(byteCount: bytes.count))
    #expect(Self.write(parser.makeHead(bytes)) == "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
  }

  @Test("an unknown transfer coding of a response is dropped with its field (Hygiene, \"response coding\")")
  func response() {
    let fields = Self.fields(
      ("Transfer-Encoding", "x"), ("Content-Length", "9"), ("Connection", "y"), ("Keep-Alive", "z"), ("ETag", "\"e\""))
    let head = ResponseHead(status: 200, version: .http10, fields: fields)
    #expect(Self.write(head, .untilClose, .close) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nConnection: close\r\n\r\n")
    #expect(Self.write(head, .length(7)) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 7\r\n\r\n")
    #expect(Self.write(head, .chunked) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(Self.write(head, .none) == "HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\n")
  }

  @Test("says what the client's version needs to hear about the connection (Hygiene, \"client of 1.0\")")
  func connection() {
    let head = ResponseHead(status: 404, reason: Bytes("Nope"))
    let line = "HTTP/1.1 404 Nope\r\nContent-Length: 0\r\n"
    #expect(Self.write(head, .length(0), .keepAlive) == line + "\r\n")
    #expect(Self.write(head, .length(0), .keepAlive, to: .http10) == line + "Connection: keep-alive\r\n\r\n")
    #expect(Self.write(head, .length(0), .close, to: .http10) == line + "Connection: close\r\n\r\n")
    let switching = ResponseHead(status: 101, fields: Self.fields(("Upgrade", "websocket")))
    #expect(
      Self.write(switching, .none, .upgrade)
        == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")
  }

  @Test("writes a status without a phrase as a status line all the same")
  func unknownStatus() {
    #expect(Self.write(ResponseHead(status: 799), .none) == "HTTP/1.1 799 \r\n\r\n")
  }
}
