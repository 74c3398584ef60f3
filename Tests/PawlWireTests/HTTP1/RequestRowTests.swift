import PawlTestKit
import PawlWire
import Testing

/// A case of the tables in the article Hygiene: the input, and its outcome.
struct Row: Sendable, CustomTestStringConvertible {
  var number: Int
  var input: String
  var outcome: String

  init(_ number: Int, _ input: String, _ outcome: String) {
    (self.number, self.input, self.outcome) = (number, input, outcome)
  }

  /// A POST to `/` of host `a` with these field lines.
  init(_ number: Int, post lines: String, _ outcome: String) {
    self.init(number, "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\r\n", outcome)
  }

  /// A GET with this request line.
  init(_ number: Int, line: String, _ outcome: String) {
    self.init(number, "\(line)\r\nHost: a\r\n\r\n", outcome)
  }

  var testDescription: String { "row \(number): \(input.debugDescription.prefix(90))" }
}

@Suite("Requests, row by row (Hygiene, \"Requests\")") struct RequestRowTests {
  @Test("frames a body in one way or not at all", arguments: RequestRows.framing, Fragmenter.allCases)
  func framing(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(requestOutcome(latin(row.input), fragmenter) == row.outcome)
  }

  @Test("takes field lines strictly", arguments: RequestRows.fields, Fragmenter.allCases)
  func fields(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(requestOutcome(latin(row.input), fragmenter) == row.outcome)
  }

  @Test("knows the site by one valid host", arguments: RequestRows.hosts, Fragmenter.allCases)
  func hosts(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(requestOutcome(latin(row.input), fragmenter) == row.outcome)
  }

  @Test("takes request lines strictly", arguments: RequestRows.requestLines, Fragmenter.allCases)
  func requestLines(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(requestOutcome(latin(row.input), fragmenter) == row.outcome)
  }

  @Test("leaves to others what is not the parser's business", arguments: RequestRows.passedOn, Fragmenter.allCases)
  func passedOn(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(requestOutcome(latin(row.input), fragmenter) == row.outcome)
  }

}

private enum RequestRows {
  static let framing: [Row] = [
    Row(1, post: "Content-Length: 5\r\nTransfer-Encoding: chunked", "400"),
    Row(1, post: "Transfer-Encoding: chunked\r\nContent-Length: 0", "400"),
    Row(2, post: "Transfer-Encoding: chunked, gzip", "400"),
    Row(2, post: "Transfer-Encoding: identity", "400"),
    Row(2, post: "Transfer-Encoding: xchunked", "400"),
    Row(2, post: "Transfer-Encoding: chunkedx", "400"),
    Row(2, post: "Transfer-Encoding: foo, chunked", "501"),
    Row(2, post: "Transfer-Encoding: gzip,chunked", "501"),
    Row(3, post: "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "400"),
    Row(3, post: "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "400"),
    Row(3, post: "Transfer-Encoding: chunked, chunked", "400"),
    Row(4, post: "Transfer-Encoding : chunked", "400"),
    Row(4, post: "Transfer-Encoding: \u{0b}chunked", "400"),
    Row(4, post: "Transfer-Encoding: chunked\u{0}", "400"),
    Row(4, post: "Transfer-Encoding: \"chunked\"", "400"),
    Row(4, post: "Transfer-Encoding: chunked;a=b", "400"),
    Row(4, post: "Transfer-Encoding: ,chunked", "400"),
    Row(4, post: "Transfer-Encoding: chunked,", "400"),
    Row(4, post: "Transfer-Encoding:", "400"),
    Row(4, post: "Transfer-Encoding: chunked\u{a0}", "400"),
    Row(4, post: "Transfer-Encoding: Chunked", "POST / a 1.1 chunked|Transfer-Encoding: Chunked"),
    Row(4, post: "TRANSFER-ENCODING:\tchunked \t", "POST / a 1.1 chunked|TRANSFER-ENCODING: chunked"),
    Row(5, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
    Row(6, post: "Content-Length: 5, 5", "400"),
    Row(6, post: "Content-Length: 5\r\nContent-Length: 5", "400"),
    Row(7, post: "Content-Length: 5\r\nContent-Length: 6", "400"),
    Row(7, post: "Content-Length: 5, 6", "400"),
    Row(8, post: "Content-Length: +5", "400"),
    Row(8, post: "Content-Length: -1", "400"),
    Row(8, post: "Content-Length: 0x5", "400"),
    Row(8, post: "Content-Length: 5 5", "400"),
    Row(8, post: "Content-Length: 5a", "400"),
    Row(8, post: "Content-Length: ", "400"),
    Row(8, post: "Content-Length: 1e1", "400"),
    Row(8, post: "Content-Length: 5,", "400"),
    Row(8, post: "Content-Length: \u{d9}\u{a5}", "400"),
    Row(8, post: "Content-Length: 9223372036854775808", "400"),
    Row(8, post: "Content-Length: 18446744073709551621", "400"),
    Row(8, post: "Content-Length: 99999999999999999999999", "400"),
    Row(
      8, post: "Content-Length: 9223372036854775807",
      "POST / a 1.1 9223372036854775807|Content-Length: 9223372036854775807"),
    Row(8, post: "Content-Length: 005", "POST / a 1.1 5|Content-Length: 005"),
    Row(9, post: "A: b", "POST / a 1.1 none|A: b"),
    Row(10, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "GET / a 1.1 3|Content-Length: 3 +3"),
    Row(
      10, "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HEAD / a 1.1 chunked|Transfer-Encoding: chunked +5"),
    Row(43, post: "Content-Length: 5\r\nUpgrade: x", "POST / a 1.1 5|Content-Length: 5|Upgrade: x"),
    Row(44, post: "Content_Length: 5\r\nTransfer_Encoding: chunked\r\nX_Forwarded_For: b", "POST / a 1.1 none"),
  ]

  static let fields: [Row] = [
    Row(11, post: "A : b", "400"),
    Row(11, post: "A\t: b", "400"),
    Row(11, post: ": x", "400"),
    Row(11, post: " : x", "400"),
    Row(12, post: "abc", "400"),
    Row(12, post: "A: b\r\nabc", "400"),
    Row(13, post: "A: b\r\n c", "400"),
    Row(13, post: "A: b\r\n\tc", "400"),
    Row(13, post: "A: b\r\n ", "400"),
    Row(14, "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400"),
    Row(14, "GET / HTTP/1.1\r\n\tA: b\r\nHost: a\r\n\r\n", "400"),
    Row(15, post: "A: b\rc", "400"),
    Row(15, post: "A: b\r\r", "400"),
    Row(15, post: "A\r: b", "400"),
    Row(15, post: "\rA: b", "400"),
    Row(15, "GET / HTTP/1.1\rHost: a\r\n\r\n", "400"),
    Row(15, "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(15, "GET / HTTP/1.1\r\nHost: a\r\n\rX", "400"),
    Row(16, "GET / HTTP/1.1\nHost: a\n\n", "400"),
    Row(16, "GET / HTTP/1.1\r\nHost: a\n\r\n", "400"),
    Row(16, "GET / HTTP/1.1\r\nHost: a\r\n\n", "400"),
    Row(17, post: "A: \u{0}", "400"),
    Row(17, post: "A: b\u{1}c", "400"),
    Row(17, post: "A: b\u{8}", "400"),
    Row(17, post: "A: b\u{b}", "400"),
    Row(17, post: "A: 0123456789abcdef\u{1f}", "400"),
    Row(17, post: "A: \u{7f}", "400"),
    Row(17, post: "A: b\tc", "POST / a 1.1 none|A: b\tc"),
    Row(17, post: "A: \u{85}\u{80}\u{ff}\u{a0}", "POST / a 1.1 none|A: \u{85}\u{80}\u{ff}\u{a0}"),
    Row(18, post: "\u{80}: b", "400"),
    Row(18, post: "A\": b", "400"),
    Row(18, post: "A(: b", "400"),
    Row(18, post: "A B: b", "400"),
    Row(18, post: "A/B: b", "400"),
    Row(18, post: "A\u{0}: b", "400"),
    Row(18, post: "!#$%&'*+-.^`|~9Z: b", "POST / a 1.1 none|!#$%&'*+-.^`|~9Z: b"),
    Row(39, post: "Expect: 100-continue", "POST / a 1.1 none|Expect: 100-continue"),
    Row(39, post: "Expect: 100-Continue", "POST / a 1.1 none|Expect: 100-Continue"),
    Row(39, post: "Expect: 200-ok", "417"),
    Row(39, post: "Expect: 100-continue\r\nExpect: x", "417"),
    Row(40, "POST / HTTP/1.0\r\nExpect: 200-ok\r\n\r\n", "POST /  1.0 none|Expect: 200-ok"),
    Row(44, post: "A_B: c\r\nD: e\r\n_: f", "POST / a 1.1 none|D: e"),
  ]

  static let hosts: [Row] = [
    Row(19, "GET / HTTP/1.1\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a\u{0}.b\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: u:p@a\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost:\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.1\r\nHost: \u{e9}\r\n\r\n", "400"),
    Row(19, "GET / HTTP/1.0\r\n\r\n", "GET /  1.0 none"),
    Row(19, "GET / HTTP/1.0\r\nHost: a:81\r\n\r\n", "GET / a:81 1.0 none"),
    Row(19, "GET / HTTP/1.1\r\nHost: A.eXample:8080\r\n\r\n", "GET / a.example:8080 1.1 none"),
    Row(20, "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", "GET / a 1.1 none"),
    Row(20, "GET HTTP://A:81/x?y HTTP/1.1\r\nHost: b\r\nC: d\r\n\r\n", "GET /x?y a:81 1.1 none|C: d"),
    Row(20, "GET http://a HTTP/1.1\r\nHost: b\r\n\r\n", "GET / a 1.1 none"),
    Row(20, "GET http://a?x/y HTTP/1.1\r\nHost: b\r\n\r\n", "GET /?x/y a 1.1 none"),
    Row(20, "OPTIONS http://a HTTP/1.1\r\nHost: b\r\n\r\n", "OPTIONS * a 1.1 none"),
    Row(20, "GET http://a/ HTTP/1.0\r\n\r\n", "GET / a 1.0 none"),
    Row(20, "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(20, "GET http://a/ HTTP/1.1\r\n\r\n", "400"),
    Row(20, "GET http://a/ HTTP/1.1\r\nHost: b,c\r\n\r\n", "400"),
    Row(20, "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(20, "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(20, "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(21, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", "405"),
    Row(21, line: "GET a:443 HTTP/1.1", "400"),
    Row(22, line: "OPTIONS * HTTP/1.1", "OPTIONS * a 1.1 none"),
    Row(22, line: "GET * HTTP/1.1", "400"),
    Row(22, line: "OPTIONS ** HTTP/1.1", "400"),
  ]

  static let requestLines: [Row] = [
    Row(23, line: "GET /a b HTTP/1.1", "400"),
    Row(23, line: "GET /a\tb HTTP/1.1", "400"),
    Row(23, line: "GET /a\u{0}b HTTP/1.1", "400"),
    Row(23, line: "GET /a\\b HTTP/1.1", "400"),
    Row(23, line: "GET /\u{e9} HTTP/1.1", "400"),
    Row(23, line: "GET /a#b HTTP/1.1", "400"),
    Row(23, line: "GET /\u{7f} HTTP/1.1", "400"),
    Row(23, line: "GET  HTTP/1.1", "400"),
    Row(23, line: "GET a HTTP/1.1", "400"),
    Row(23, line: "GET ?a HTTP/1.1", "400"),
    Row(23, line: "GET /%41%zz%?a=%20 HTTP/1.1", "GET /%41%zz%?a=%20 a 1.1 none"),
    Row(
      24, line: "GET /../a//b/%2e%2e/%2f;c=d/.?q=|{}^`\"<> HTTP/1.1",
      "GET /../a//b/%2e%2e/%2f;c=d/.?q=|{}^`\"<> a 1.1 none"),
    Row(24, line: "GET //b/c HTTP/1.1", "GET //b/c a 1.1 none"),
    Row(25, line: "GET  / HTTP/1.1", "400"),
    Row(25, line: "GET /  HTTP/1.1", "400"),
    Row(25, line: "GET\t/ HTTP/1.1", "400"),
    Row(25, line: "GET /\tHTTP/1.1", "400"),
    Row(25, line: " GET / HTTP/1.1", "400"),
    Row(25, line: "GET / ", "400"),
    Row(25, line: "GET / http/1.1", "400"),
    Row(25, line: "GET / HTTP/1.1 ", "400"),
    Row(25, line: "GET / HTTP /1.1", "400"),
    Row(25, line: "GET / HTTP/1.1a", "400"),
    Row(25, line: "GET / HTTP/.1", "400"),
    Row(25, line: "GET / HTTP/1", "400"),
    Row(26, line: "GET / HTTP/1.2", "GET / a 1.1 none"),
    Row(26, line: "GET / HTTP/1.9", "GET / a 1.1 none"),
    Row(26, line: "GET / HTTP/2.0", "505"),
    Row(26, line: "GET / HTTP/0.9", "505"),
    Row(26, line: "GET / HTTP/01.1", "505"),
    Row(26, line: "GET / HTTP/1.10", "505"),
    Row(26, line: "GET / HTTP/1.32", "505"),
    Row(26, line: "GET / HTTP/4294967297.1", "505"),
    Row(27, "GET /\r\n\r\n", "400"),
    Row(27, "GET /\r\n", "400"),
    Row(28, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
    Row(29, line: "G\"T / HTTP/1.1", "400"),
    Row(29, line: "G\u{e9}T / HTTP/1.1", "400"),
    Row(29, line: "get / HTTP/1.1", "get / a 1.1 none"),
    Row(29, line: "BREW /pot HTTP/1.1", "BREW /pot a 1.1 none"),
    Row(
      29, line: "\(String(repeating: "M", count: 32)) / HTTP/1.1", "\(String(repeating: "M", count: 32)) / a 1.1 none"),
    Row(29, line: "\(String(repeating: "M", count: 33)) / HTTP/1.1", "501"),
    Row(29, "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "400"),
    Row(32, "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / a 1.1 none"),
    Row(32, "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / a 1.1 none"),
    Row(32, "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(32, "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    Row(32, "\r\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
  ]

  static let passedOn: [Row] = [
    Row(
      41, post: "Upgrade: websocket\r\nConnection: upgrade", "POST / a 1.1 none|Upgrade: websocket|Connection: upgrade"),
    Row(42, post: "Connection: content-length, host", "POST / a 1.1 none|Connection: content-length, host"),
    Row(45, post: "Range: bytes=0-1\r\nRange: bytes=2-3", "POST / a 1.1 none|Range: bytes=0-1|Range: bytes=2-3"),
    Row(46, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\n", "GET /1 a 1.1 none +17"),
    Row(50, post: "Range: bytes=0-1\r\nIf-Range: \"x\"", "POST / a 1.1 none|Range: bytes=0-1|If-Range: \"x\""),
    Row(51, post: "Content-Range: bytes 0-1/2", "POST / a 1.1 none|Content-Range: bytes 0-1/2"),
    Row(52, post: "X-Forwarded-For: b\r\nVia: c", "POST / a 1.1 none|X-Forwarded-For: b|Via: c"),
  ]
}
