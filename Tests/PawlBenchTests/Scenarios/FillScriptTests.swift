import PawlTestKit
import Testing

@testable import PawlBench

@Suite("Cold bodies with several readers", .timeLimit(.minutes(1))) struct FillScriptTests {
  private static func request(_ number: Int) -> OriginStep {
    .expect("GET /b/\(number)?x HTTP/1.1\r\nHost: a.example\r\n\r\n")
  }

  private func run(
    readers: Int, reference: String? = nil, operations: UInt64, _ scripts: [[OriginStep]]
  ) throws -> Tally {
    var settings = try Performing.settings(.fill(first: 7, readers: readers), connections: scripts.count)
    settings.target = try Target("http://a.example/b/{n}?x")
    let server = ScriptedOrigin(.tcp, scripts: scripts)
    let tally = try Performing.run(
      settings, server, reference: reference.map { Array($0.utf8) }, operations: operations)
    #expect(server.finish() == [])
    return tally
  }

  @Test("all readers get one body before any of them goes on to the next")
  func together() throws {
    let gate = Gate()
    let slow: [OriginStep] = [Self.request(7), .wait(gate), .send(Performing.answer("abc"))]
    let quick: [OriginStep] = [Self.request(7), .send(Performing.answer("abc")), .open(gate)]
    let next: [OriginStep] = [Self.request(8), .send(Performing.answer("defg")), .readToEnd]
    let tally = try run(readers: 2, operations: 4, [slow + next, quick + next])
    #expect(tally.completed == 4 && tally.failures == [:] && tally.received == 14 && tally.verified == 7)
  }

  @Test("readers that get different bytes, or a different length, are told")
  func different() throws {
    for (other, failure) in [("abd", Failure.content), ("abcd", .length)] {
      let scripts = ["abc", other].map { [Self.request(7), .send(Performing.answer($0)), OriginStep.readToEnd] }
      #expect(try run(readers: 2, operations: 2, scripts).failures == [failure: 1])
    }
  }

  @Test("with a reference every body is compared with it")
  func reference() throws {
    func failures(_ content: String) throws -> [Failure: UInt64] {
      try run(
        readers: 1, reference: "abc", operations: 1, [[Self.request(7), .send(Performing.answer(content)), .readToEnd]]
      )
      .failures
    }
    #expect(try failures("abc") == [:])
    #expect(try failures("abx") == [.content: 1])
    #expect(try failures("ab") == [.length: 1])
  }

  @Test("a reader that fails does not hold up the others")
  func failing() throws {
    let scripts: [[OriginStep]] = [
      [
        Self.request(7), .send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), Self.request(8),
        .send(Performing.answer("b")), .readToEnd,
      ],
      [Self.request(7), .send(Performing.answer("a")), Self.request(8), .send(Performing.answer("b")), .readToEnd],
    ]
    let tally = try run(readers: 2, operations: 4, scripts)
    #expect(tally.completed == 3 && tally.failures == [.status(503): 1])
  }
}
