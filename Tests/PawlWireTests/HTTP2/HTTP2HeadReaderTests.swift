import PawlHTTP
import PawlWire
import Testing

/// What becomes of one header block, as one line: the request, a refusal's status, or what the session answers by itself.
private func outcome(
  _ fields: [(String, String)], _ settings: HTTP2Settings = HTTP2Settings(), end: Bool = true
) -> String {
  let server = HTTP2Serving(settings)
  server.receive(HTTP2Serving.opening + HTTP2Frame.headers(1, fields, end: end).bytes)
  let lines = server.lines()
  return server.events.filter { $0 != "ended 1" }.first.map { String($0.drop { $0 != " " }.dropFirst(3)) }
    ?? lines.first ?? "nothing"
}

@Suite("HTTP/2 request heads (RFC 9113 §8.2, §8.3)") struct HTTP2HeadReaderTests {
  private static func get(_ more: (String, String)...) -> [(String, String)] { HTTP2Frame.request("GET", "/") + more }
  private static func head(
    _ method: String = "GET", scheme: String = "http", path: String = "/", authority: String? = "a",
    _ more: (String, String)...
  ) -> [(String, String)] {
    [(":method", method), (":scheme", scheme), (":path", path)] + (authority.map { [(":authority", $0)] } ?? []) + more
  }

  @Test(
    "become requests",
    arguments: [
      (head(path: "/a?b=c%20"), "GET /a?b=c%20 a none"),
      (head("OPTIONS", path: "*"), "OPTIONS * a none"),
      (head("PURGE"), "PURGE / a none"),
      (head(authority: "Example.ORG:8080"), "GET / example.org:8080 none"),
      (head(authority: "a:"), "GET / a none"),
      (head(authority: "[2001:DB8::1]:443"), "GET / [2001:db8::1]:443 none"),
      (head(authority: nil, ("host", "B")), "GET / b none"),
      (head(authority: "A", ("host", "a")), "GET / a none"),
      (head(scheme: "https"), "GET / a none"),
      (get(("x-a", "1"), ("user-agent", "u"), ("x-a", "2")), "GET / a none|x-a: 1|user-agent: u|x-a: 2"),
      (get(("cookie", "a=1"), ("x", "y"), ("cookie", "b=2"), ("cookie", "c")), "GET / a none|cookie: a=1; b=2; c|x: y"),
      (get(("cookie", "a=1")), "GET / a none|cookie: a=1"),
      (get(("content_length", "5"), ("x_y", "1"), ("z", "")), "GET / a none|z: "),
      (get(("te", "trailers")), "GET / a none|te: trailers"),
      (get(("content-length", "0")), "GET / a 0|content-length: 0"),
      (get(("expect", "100-Continue")), "GET / a none|expect: 100-Continue"),
      (get(("x", "\u{e9}\u{85}")), "GET / a none|x: \u{fffd}"),
      (
        head("CONNECT", (":protocol", "websocket")).sorted { $0.0.first == ":" && $1.0.first != ":" },
        "websocket CONNECT / a none"
      ),
    ])
  func sound(_ fields: [(String, String)], _ expected: String) {
    #expect(outcome(fields) == expected)
  }

  @Test("with content to follow")
  func framing() {
    #expect(outcome(Self.get(), end: false) == "GET / a open")
    #expect(outcome(Self.get(("content-length", "007")), end: false) == "GET / a 7|content-length: 007")
  }

  @Test(
    "are refused with the status that HTTP/1.1 gives",
    arguments: [
      ([(":method", "CONNECT"), (":authority", "a:1")], "405"),
      (head(path: "/a#b"), "400"), (head(path: "/\\"), "400"), (head(path: "/\u{e9}"), "400"),
      (head(authority: "u@a"), "400"), (head(authority: "a,b"), "400"), (head(authority: "a:99999"), "400"),
      (head(authority: ":80"), "400"), (head(authority: "a b"), "RST 1 1"), (head(authority: "."), "400"),
      (head(authority: "a", ("host", "b")), "400"), (head(authority: "a", ("host", "a:80")), "400"),
      (head(scheme: "ftp"), "400"),
      (get(("expect", "x")), "417"), (get(("expect", "100-continue"), ("expect", "y")), "417"),
      (head(String(repeating: "A", count: 33)), "501"),
    ])
  func refused(_ fields: [(String, String)], _ expected: String) {
    #expect(outcome(fields) == expected)
  }

  @Test(
    "that are malformed reset their stream, and reach nobody",
    arguments: [
      get(("Accept", "x")), get(("a b", "x")), get(("", "x")), get(("x:", "y")), get(("x", "a\u{0}b")),
      get(("x", "a\r\nb")), get(("x", " a")), get(("x", "a\t")), get(("\u{e9}", "x")),
      get(("connection", "close")), get(("keep-alive", "1")), get(("proxy-connection", "close")),
      get(("transfer-encoding", "chunked")), get(("upgrade", "h2c")), get(("te", "gzip")),
      get(("te", "trailers, gzip")),
      get((":method", "GET")), get((":path", "/b")), get((":authority", "b")), get((":scheme", "http")),
      get((":status", "200")), get((":other", "1")), [("x", "y")] + get(), get(("host", "a"), ("host", "a")),
      head(path: ""), head(path: "a"), head(path: "*"), head(path: "http://a/"), head(""), head("G T"),
      head(authority: nil), head(authority: ""), head(path: "/a b"), head(path: "/\t"),
      [(":method", "GET"), (":scheme", "http"), (":authority", "a")],
      [(":scheme", "http"), (":path", "/"), (":authority", "a")],
      [(":method", "GET"), (":path", "/"), (":authority", "a")],
      get(("content-length", "5")), get(("content-length", "+0")), get(("content-length", "0, 0")),
      get(("content-length", "")), get(("content-length", "0"), ("content-length", "0")),
      get(("content-length", "99999999999999999999")),
      [(":protocol", "websocket")] + get(),
      [(":method", "CONNECT"), (":protocol", "x"), (":authority", "a")],
      [(":method", "CONNECT"), (":scheme", "http"), (":path", "/"), (":authority", "a")],
    ])
  func malformed(_ fields: [(String, String)]) {
    #expect(outcome(fields) == "RST 1 1")
  }

  @Test("of a TLS listener are for https")
  func scheme() {
    var settings = HTTP2Settings()
    settings.isSecure = true
    #expect(outcome(Self.head(scheme: "http"), settings) == "400")
    #expect(outcome(Self.head(scheme: "https"), settings) == "GET / a none")
  }

  @Test("keep to the limits of a head: at each limit, and one past it")
  func limits() {
    var settings = HTTP2Settings()
    settings.head = HeadLimits(maxHead: 400, maxFields: 4, maxRequestLine: 100, maxMethod: 5)
    // ":method" "GET", ":scheme" "http", ":path" "/", ":authority" "a", each with 4.
    let start = 14 + 15 + 10 + 15
    func fields(_ count: Int) -> [(String, String)] {
      Self.get() + [("x", String(repeating: "v", count: count - start - 5))]
    }
    #expect(outcome(fields(400), settings).hasPrefix("GET / a none|x: vv"))
    #expect(outcome(fields(401), settings) == "431")
    let four = Self.get(("a", ""), ("b", ""), ("c", ""), ("d", ""))
    #expect(outcome(four, settings) == "GET / a none|a: |b: |c: |d: ")
    #expect(outcome(four + [("e", "")], settings) == "431")
    // "GET " and " HTTP/1.1" are 13.
    #expect(outcome(Self.head(path: "/" + String(repeating: "p", count: 86)), settings).hasPrefix("GET /pp"))
    #expect(outcome(Self.head(path: "/" + String(repeating: "p", count: 87)), settings) == "414")
    #expect(outcome(Self.head(path: "/" + String(repeating: "p", count: 500)), settings) == "414")
    #expect(outcome(Self.head("PURGE"), settings) == "PURGE / a none")
    #expect(outcome(Self.head("PURGED"), settings) == "501")
  }

  @Test("far beyond the limits end the connection: no more is decompressed")
  func bombs() {
    var settings = HTTP2Settings()
    settings.head = HeadLimits(maxHead: 400, maxFields: 4)
    func answer(_ fields: [(String, String)]) -> [String] {
      let server = HTTP2Serving(settings)
      server.receive(HTTP2Serving.opening + HTTP2Frame.get(1, more: fields).bytes)
      return server.events + server.lines() + ["\(server.progress)"]
    }
    let many = [("a", "")] + (0..<15).map { _ in ("b", "") }
    #expect(answer(many) == ["refused 1 431", "goesOn"])
    #expect(answer(many + [("b", "")]) == ["GOAWAY 1 11", "ends(PawlWire.HTTP2Session.EndReason.headerFlood)"])
    // 54 bytes of pseudo-fields, and 5 for a field of one byte.
    func large(_ count: Int) -> [(String, String)] { [("x", String(repeating: "v", count: count - 54 - 5))] }
    #expect(answer(large(1600)) == ["refused 1 431", "goesOn"])
    #expect(answer(large(1601)) == ["GOAWAY 1 11", "ends(PawlWire.HTTP2Session.EndReason.headerFlood)"])
    #expect(answer(large(1700)) == ["GOAWAY 0 11", "ends(PawlWire.HTTP2Session.EndReason.continuationFlood)"])
  }

  @Test("that were refused do not disturb what follows on the connection")
  func compression() {
    let (server, client) = (HTTP2Serving(), HTTP2Client())
    server.onBegan = { stream, _ in server.answer(stream, 204) }
    client.request("GET", "/", [("x-long", String(repeating: "y", count: 40_000)), ("x-kept", "1")])
    client.request("GET", "/", [("x-kept", "1")])
    client.talk(to: server)
    #expect(server.takeEvents().prefix(2) == ["refused 1 431", "began 3 GET / a none|x-kept: 1"])
    #expect(client.answers[3]?.head == "204")
  }

  @Test("of trailers: pseudo-fields and what is beyond the limits reset the stream")
  func trailers() {
    func answer(_ fields: [(String, String)], end: Bool = true) -> [String] {
      let server = HTTP2Serving()
      server.receive(HTTP2Serving.opening + HTTP2Frame.headers(1, HTTP2Frame.request("PUT", "/"), end: false).bytes)
      server.receive(HTTP2Frame.headers(1, fields, end: end))
      return Array(server.takeEvents().dropFirst()) + server.lines() + server.takeEvents()
    }
    #expect(answer([("content-digest", "a"), ("x", "b")]) == ["ended 1 Content-Digest=a"])
    #expect(answer([(":path", "/")]) == ["RST 1 1", "closed 1 1"])
    #expect(answer([("x", "y")], end: false) == ["RST 1 1", "closed 1 1"])
    #expect(answer([("connection", "close")]) == ["RST 1 1", "closed 1 1"])
    #expect(answer((0..<64).map { ("x\($0)", "") }) == ["ended 1"])
    #expect(answer((0..<65).map { ("x\($0)", "") }) == ["RST 1 11", "closed 1 11"])
    let long = [("x", String(repeating: "y", count: 8187))]
    #expect(answer(long) == ["ended 1"])
    #expect(answer(long + [("z", "")]) == ["RST 1 11", "closed 1 11"])
  }
}
