import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlUpstream

@Suite("One check of a node") struct NodeCheckTests {
  private static let question =
    "GET /base/up HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUser-Agent: pawl\r\nConnection: close\r\n\r\n"

  /// What a check says of a node that does this; `nil`: it is well.
  private func outcome(_ script: [OriginStep], timeout: Duration = .seconds(10)) throws -> String? {
    let origin = ScriptedOrigin(.tcp, script)
    defer { #expect(origin.finish() == []) }
    return try outcome(port: origin.port, timeout: timeout)
  }

  private func outcome(port: UInt16, timeout: Duration = .seconds(10)) throws -> String? {
    let bench = try Bench { $0.urls = [UpstreamURL(host: "127.0.0.1", port: port, basePath: "/base")] }
    let settings = NodeCheckSettings(
      path: Array("/up".utf8), interval: .seconds(1), timeout: timeout, statuses: [200...299, 401...401])
    var said: [String?] = []
    let check = NodeCheck(settings, of: 0, bench.upstream, on: bench.loop) { said.append($0) }
    check.start()
    bench.turn { !said.isEmpty }
    #expect(said.count == 1)
    #expect(bench.upstream.connectionCount == 0, "it counts nowhere")
    return said[0]
  }

  @Test(
    "judges by the status of the final answer",
    arguments: [
      ("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", nil), ("HTTP/1.0 401 No\r\n\r\n", nil),
      ("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 None\r\n\r\n", nil),
      ("HTTP/1.1 302 Found\r\n\r\n", "status 302"), ("HTTP/1.1 503 Away\r\n\r\n", "status 503"),
    ])
  func statuses(_ answer: String, _ expected: String?) throws {
    #expect(try outcome([.expectHead, .send(answer), .readToEnd]) == expected)
    #expect(try outcome([.expectHead, .sendEachByte(Array(answer.utf8)), .readToEnd]) == expected)
  }

  @Test("says what it asks by")
  func question() {
    let settings = NodeCheckSettings(path: Array("/up".utf8), interval: .seconds(1), timeout: .seconds(1), statuses: [])
    func host(_ url: UpstreamURL) -> String {
      let lines = String(decoding: NodeCheck.question(settings, to: url), as: UTF8.self).split(separator: "\r\n")
      return lines.dropFirst().first.map(String.init) ?? ""
    }
    let url = UpstreamURL(host: "127.0.0.1", port: 9000, basePath: "/base")
    let expected = Self.question.replacing("PORT", with: "9000")
    #expect(String(decoding: NodeCheck.question(settings, to: url), as: UTF8.self) == expected)
    #expect(host(UpstreamURL(host: "app", port: 80)) == "Host: app")
    #expect(host(UpstreamURL(host: "app", port: 443, serverName: "other")) == "Host: app")
    #expect(host(UpstreamURL(host: "::1", port: 443)) == "Host: [::1]:443")
    #expect(host(UpstreamURL(host: "/run/app", port: 0, isUnix: true)) == "Host: localhost")
  }

  @Test("says why there is no answer")
  func failures() throws {
    #expect(try outcome([.expectHead]) == "closed before the end of a head")
    #expect(try outcome([.expectHead, .readToEnd], timeout: .milliseconds(50)) == "no answer within 0.05 seconds")
    #expect(
      try outcome([.expectHead, .send("nonsense\r\n\r\n"), .readToEnd])?.hasPrefix("http_protocol_error") == true)
    let port = ScriptedOrigin.closedPort()
    #expect(try outcome(port: port) == "connection_refused: 127.0.0.1:\(port): connection refused")
  }
}
