import PawlHTTP
import Testing

@Suite("Hop-by-hop fields (RFC 9110 §7.6.1)") struct HopByHopTests {
  @Test("are removed, and what Connection names with them") func strips() {
    var message = fields(
      ("Host", "a"), ("Connection", "close, X-Hop"), ("connection", "x-other"), ("Keep-Alive", "timeout=5"),
      ("TE", "trailers"),
      ("Trailer", "X"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAA"),
      ("Proxy-Connection", "keep-alive"), ("Proxy-Authenticate", "Basic"), ("Proxy-Authorization", "Basic x"),
      ("Proxy-Authentication-Info", "x"), ("x-hop", "1"), ("X-Other", "2"), ("X-Kept", "3"), ("Accept", "*/*"))
    HopByHop.strip(&message)
    #expect(message == fields(("Host", "a"), ("X-Kept", "3"), ("Accept", "*/*")))
  }

  @Test(
    "what an origin goes by is never removed (Hygiene, \"Connection options\")",
    arguments: [
      "Content-Length", "Host", "Authorization", "Upload-Offset", "Cookie", "Range", "If-Range", "X-Forwarded-For",
      "X-Forwarded-Server", "X-Real-IP", "Forwarded", "Via", "Content-Type", "Content-Security-Policy", "Cache-Control",
      "Set-Cookie", "ETag", "Vary", "Date", "Expect", "Origin", "Sec-Fetch-Site", "Access-Control-Allow-Origin",
      "Client-Cert",
    ])
  func protects(_ name: String) {
    var message = fields(("Connection", "close, \(name.lowercased())"), (name, "1"))
    HopByHop.strip(&message)
    #expect(message == fields((name, "1")))
  }

  @Test("leaves a message without them as it is") func untouched() {
    var message = fields(("Host", "a"), ("X-Close", "b"), ("Content-Length", "5"))
    HopByHop.strip(&message)
    #expect(message == fields(("Host", "a"), ("X-Close", "b"), ("Content-Length", "5")))
  }

  @Test(
    "options are read from any line in any case",
    arguments: [
      (fields(), .init()), (fields(("Connection", "close")), .init(close: true)),
      (fields(("Connection", "Keep-Alive, Upgrade")), .init(keepAlive: true, upgrade: true)),
      (fields(("Connection", ",x"), ("CONNECTION", "CLOSE")), .init(close: true)),
      (fields(("Connection", "closed, not-close, \"close\"")), .init()),
      (fields(("Proxy-Connection", "close")), .init()),
    ] as [(Fields, ConnectionOptions)])
  func options(_ fields: Fields, _ expected: ConnectionOptions) {
    #expect(HopByHop.connectionOptions(fields) == expected)
    #expect(HopByHop.isConnectionOption("close".utf8, in: fields) == expected.close)
  }
}
