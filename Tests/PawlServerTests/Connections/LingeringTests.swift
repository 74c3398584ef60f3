import PawlLoop
import Testing

@testable import PawlServer

@Suite("Bytes after the end") struct LingeringTests {
  @Test("are dropped up to a limit, until FIN or a break")
  func limits() {
    let rows: [(IOResult, Lingering.Outcome, Int)] = [
      (.wouldBlock, .goesOn, 10), (.bytes(9), .goesOn, 1), (.bytes(10), .enough, 0), (.bytes(11), .enough, -1),
      (.end, .ended, 10), (.failed(104), .broken, 10),
    ]
    for (result, outcome, left) in rows {
      var lingering = Lingering(budget: 10)
      let told = lingering.take(result)
      #expect(told == outcome && lingering.budget == left, "\(result)")
    }
    var lingering = Lingering(budget: 3)
    let outcomes = (0..<4).map { _ in lingering.take(.bytes(1)) }
    #expect(outcomes == [.goesOn, .goesOn, .enough, .enough])
  }
}
