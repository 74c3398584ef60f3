import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Orders to the admin interface", .timeLimit(.minutes(1))) struct AdminOrdersTests {
  @Test("a reload is answered with its outcome")
  func reload() throws {
    let bench = try AdminBench()
    bench.shown.configuration.file = "/etc/pawl.ini"
    bench.outcome = ReloadOutcome(isApplied: true, needsRestart: ["f:1: [pawl] workers: x"])
    let answer = bench.ask("POST", "/v1/reload", "{}")
    #expect(answer.status == 200)
    #expect(
      answer.text
        == #"{"applied":true,"mistakes":[],"needs_restart":["f:1: [pawl] workers: x"],"file":"/etc/pawl.ini"}"# + "\n")
    bench.outcome = ReloadOutcome(isApplied: false, mistakes: ["f:2: \"x\""])
    let failed = bench.ask("POST", "/v1/reload", "")
    #expect(failed.status == 422)
    #expect(
      failed.text == #"{"applied":false,"mistakes":["f:2: \"x\""],"needs_restart":[],"file":"/etc/pawl.ini"}"# + "\n")
    #expect(bench.events.last == "notice admin-order order=reload client=127.0.0.1")
  }

  @Test("a stop is answered before it begins")
  func stop() throws {
    let bench = try AdminBench()
    let answer = bench.ask("POST", "/v1/stop", "{}")
    #expect(answer.status == 202 && answer.text == "{\"draining\":true,\"drain_timeout\":10}\n")
    #expect(bench.ask("POST", "/v1/stop", "{\"now\":true}").text == "{\"draining\":true,\"drain_timeout\":0}\n")
    let start = SystemClock().now()
    while bench.done.withLock({ $0.count }) < 2, SystemClock().now() - start < .seconds(30) {}
    #expect(bench.done.withLock { $0 } == ["end", "end now"])
  }

  @Test("content that is not an order changes nothing", arguments: ["[]", "{", "1", "{\"nov\":true}", "x"])
  func malformed(_ content: String) throws {
    let bench = try AdminBench()
    for path in ["/v1/stop", "/v1/reload", "/v1/upgrade", "/v1/reopen-logs", "/v1/log-level"] {
      let answer = bench.ask("POST", path, content)
      #expect(answer.status == 400, "\(path)")
      #expect(answer.head.contains("\r\nContent-Type: application/problem+json\r\n"))
    }
    #expect(bench.done.withLock { $0 } == [])
  }

  @Test("content is taken up to its limit, and refused one byte beyond")
  func limit() throws {
    let bench = try AdminBench()
    let blanks = String(repeating: " ", count: AdminExchange.mostContent)
    #expect(bench.ask("POST", "/v1/reopen-logs", blanks).status == 200)
    #expect(bench.ask("POST", "/v1/reopen-logs", blanks + " ").status == 413)
    #expect(bench.done.withLock { $0 } == ["reopen"])
  }

  @Test("a log that cannot be opened again is a problem with the reason")
  func notReopened() throws {
    let bench = try AdminBench()
    bench.whyNotReopened = ["cannot open the log /a: x", "cannot open the log /b: y"]
    let answer = bench.ask("POST", "/v1/reopen-logs", "{}")
    #expect(answer.status == 500 && answer.head.contains("\r\nContent-Type: application/problem+json\r\n"))
    let why = "cannot open the log /a: x; cannot open the log /b: y; lines go on to the file that was open before"
    #expect(answer.text.contains("\"detail\":\"\(why)\""))
    bench.whyNotReopened = []
    #expect(bench.ask("POST", "/v1/reopen-logs", "{}").text == "{\"reopened\":true}\n")
  }

  @Test("an upgrade that does not come about is answered with the reason")
  func upgrade() throws {
    let bench = try AdminBench()
    bench.whyNoUpgrade = "no new binary"
    let answer = bench.ask("POST", "/v1/upgrade")
    #expect(answer.status == 411 || answer.status == 409)
    #expect(bench.ask("POST", "/v1/upgrade", "{}").text.contains("\"detail\":\"no new binary\""))
    bench.whyNoUpgrade = nil
    #expect(bench.ask("POST", "/v1/upgrade", "{}").text == "{\"upgraded\":true}\n")
  }
}
