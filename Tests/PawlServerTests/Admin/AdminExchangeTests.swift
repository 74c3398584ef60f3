import CLinux
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Requests to the admin interface", .timeLimit(.minutes(1))) struct AdminExchangeTests {
  @Test("a probe needs no token, and is told that the process lives")
  func health() throws {
    let bench = try AdminBench()
    let answer = bench.ask("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: r\r\n\r\n")
    let date = answer.head.split(separator: "\r\n").first { $0.hasPrefix("Date: ") } ?? ""
    #expect(
      answer.head.replacing("\(date)\r\n", with: "")
        == "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"
        + "X-Content-Type-Options: nosniff\r\nVia: 1.1 pawl\r\nContent-Length: 3\r\n\r\n")
    #expect(answer.text == "ok\n")
    #expect(bench.ask("HEAD", "/healthz").text == "")
  }

  @Test("a refusal says what to do, and is logged")
  func refusals() throws {
    let bench = try AdminBench()
    let answer = bench.ask("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(answer.head.hasPrefix("HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n"))
    #expect(answer.head.contains("\r\nWWW-Authenticate: Bearer realm=\"pawl\"\r\n"))
    #expect(
      answer.text
        == #"{"type":"about:blank","title":"Unauthorized","status":401,"detail":"This address needs Authorization: Bearer with the token of [admin], or a client certificate."}"#
        + "\n")
    #expect(bench.events == [#"warning admin-refused client=127.0.0.1 target=/nothing why="no valid token" omitted=0"#])
    #expect(bench.ask("GET", "/nothing?token=0123456789abcdef").head.hasPrefix("HTTP/1.1 404 "))
    let wrong = bench.ask("POST", "/healthz", "{}")
    #expect(wrong.head.hasPrefix("HTTP/1.1 405 ") && wrong.head.contains("\r\nAllow: GET, HEAD\r\n"))
  }

  @Test("the socket has its mode from the beginning on, and goes with the server")
  func socket() throws {
    let bench = try AdminBench("mode = 0660")
    var status = stat()
    #expect(lstat("\(bench.folder.path)/a.sock", &status) == 0 && status.st_mode & 0o777 == 0o660)
    bench.stop()
    #expect(lstat("\(bench.folder.path)/a.sock", &status) != 0)
  }
}
