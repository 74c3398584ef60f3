import PawlLoop
import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Before a run", .timeLimit(.minutes(1))) struct PreparationTests {
  private func problem(_ scenario: RunSettings.Scenario, _ server: ScriptedOrigin) throws -> String? {
    let target = try Target("http://127.0.0.1:\(server.port)/x")
    let preparation = Preparation(
      loop: try EventLoop(index: 0), settings: RunSettings(scenario: scenario, target: target))
    do throws(RunProblem) {
      _ = try preparation.reference(try preparation.place(of: target))
      return nil
    } catch { return error.description }
  }

  @Test("one whole download is what the others are compared with")
  func reference() throws {
    let server = ScriptedOrigin(.tcp, [], [.expectHead, .send(Performing.answer("abc")), .readToEnd])
    let target = try Target("http://127.0.0.1:\(server.port)/x")
    let preparation = Preparation(
      loop: try EventLoop(index: 0), settings: RunSettings(scenario: .hit, target: target))
    let place = try preparation.place(of: target)
    #expect(try preparation.reference(place)?.bytes == Array("abc".utf8))
    #expect(server.finish() == [])
  }

  @Test("what cannot be such a download says why")
  func problems() throws {
    let rows: [(RunSettings.Scenario, String, String)] = [
      (.hit, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "status 404"),
      (.hit, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "cut"),
      (.resume(interruptions: 1), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "the body is empty"),
      (.hit, "SMTP\r\n", "protocol"),
    ]
    for (scenario, answer, words) in rows {
      let server = ScriptedOrigin(.tcp, [], [.expectHead, .send(answer)])
      #expect(try problem(scenario, server) == "http://127.0.0.1:\(server.port)/x: \(words)")
      #expect(server.finish() == [])
    }
  }

  @Test("scenarios that compare with nothing ask for nothing")
  func nothing() throws {
    let server = ScriptedOrigin(.tcp, [])
    #expect(try problem(.idle, server) == nil)
    #expect(server.finish() == [] && server.acceptedCount <= 1)
  }
}
