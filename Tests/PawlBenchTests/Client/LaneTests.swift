import PawlTestKit
import Testing

@testable import PawlBench

@Suite("What a lane does with an answer that is wrong", .timeLimit(.minutes(1))) struct LaneTests {
  private func run(_ wrong: [UInt8], _ scripts: [OriginStep]...) throws -> Tally {
    let server = ScriptedOrigin(.tcp, scripts: [[.expectHead, .send(wrong)] + scripts[0]] + scripts.dropFirst())
    let tally = try Performing.run(Performing.settings(.hit), server, reference: Array("abc".utf8), operations: 2)
    _ = server.finish()
    return tally
  }

  private static let right: [OriginStep] = [.expectHead, .send(Performing.answer("abc")), .readToEnd]

  @Test("a short one is read over, and the connection used again")
  func short() throws {
    let answer = Array("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nsorry".utf8)
    let tally = try run(answer, Self.right)
    #expect(tally.completed == 1 && tally.failures == [.status(500): 1] && tally.connections == 1)
  }

  @Test("a long one is not waited for")
  func long() throws {
    let answer = Array("HTTP/1.1 500 No\r\nContent-Length: 1000000000\r\n\r\nsorry".utf8)
    let tally = try run(answer, [.readToEnd], Self.right)
    #expect(tally.completed == 1 && tally.failures == [.status(500): 1] && tally.connections == 2)
  }

  @Test("one that ends early after it was found wrong counts once, as what it was")
  func once() throws {
    let answer = Array("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nso".utf8)
    #expect(try run(answer, [], Self.right).failures == [.status(500): 1])
  }
}
