import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The log level at the admin interface", .timeLimit(.minutes(1))) struct AdminLogLevelTests {
  @Test("changes, perhaps for a time")
  func change() throws {
    let bench = try AdminBench()
    #expect(bench.ask("GET", "/v1/log-level").text == #"{"level":"debug","until":null,"then":null}"# + "\n")
    #expect(
      bench.ask("POST", "/v1/log-level", #"{"level":"warning"}"#).text
        == #"{"level":"warning","until":null,"then":null}"# + "\n")
    #expect(!bench.shared.events.isEnabled(.notice))
    let timed = bench.ask("POST", "/v1/log-level", #"{"level":"debug","seconds":604800}"#).text
    #expect(timed.hasPrefix(#"{"level":"debug","until":"#) && timed.hasSuffix(#","then":"warning"}"# + "\n"))
    #expect(bench.events.last == #"notice log-level-changed level=debug why="asked by 127.0.0.1""#)
  }

  @Test(
    "has five words, and a time from a second to a week",
    arguments: [
      #"{"level":"loud"}"#, #"{"level":1}"#, "{}", #"{"level":"info","seconds":0}"#,
      #"{"level":"info","seconds":604801}"#, #"{"level":"info","seconds":"1"}"#, #"{"level":"info","minutes":1}"#,
    ])
  func refused(_ content: String) throws {
    let bench = try AdminBench()
    #expect(bench.ask("POST", "/v1/log-level", content).status == 400)
    #expect(bench.shared.events.isEnabled(.debug))
  }
}
