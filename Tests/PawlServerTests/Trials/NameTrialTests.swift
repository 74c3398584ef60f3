import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Trying names") struct NameTrialTests {
  @Test("each name has its addresses, or the reason why it has none")
  func reasons() throws {
    let (one, other) = (
      try #require(SocketAddress.parse("192.0.2.1:0")), try #require(SocketAddress.parse("127.0.0.1:0"))
    )
    let answers = try NameTrial.answers(to: ["a.example", "b.example", "c.example", "127.0.0.1"]) { name in
      switch name {
      case "a.example": .success([one])
      case "b.example": .failure(.notFound)
      default: .failure(.temporary)
      }
    }
    #expect(
      answers == [
        "a.example": .success([one]), "b.example": .failure(.notFound), "c.example": .failure(.temporary),
        "127.0.0.1": .success([other]),
      ])
    #expect(try NameTrial.answers(to: []) { _ in .failure(.notFound) } == [:])
  }

  @Test("a name service that does not answer is waited for so long, and no longer")
  func patience() throws {
    let gate = Gate()
    defer { gate.open() }
    let answers = try NameTrial.answers(to: ["a.example"], within: .milliseconds(1)) { _ in
      _ = gate.wait()
      return .failure(.notFound)
    }
    #expect(answers == ["a.example": .failure(.temporary)])
  }
}
