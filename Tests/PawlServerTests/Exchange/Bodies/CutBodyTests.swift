import Testing

@testable import PawlServer

@Suite("A body of which only the beginning is there") struct CutBodyTests {
  private static let end = BodyEnd(party: .origin, reason: "gone")

  @Test("is given as far as it is, and then fails; that it came so far is told once", arguments: [0, 1, 10])
  func beginning(_ count: Int) {
    var cuts = 0
    let body = CutBody(MemoryBody(Array(repeating: 7, count: count)), Self.end) { cuts += 1 }
    var given = 0
    while case .memory(_, let range) = body.next(limit: 3) { given += range.count }
    #expect(given == count && cuts == 1)
    guard case .failed(Self.end) = body.next(limit: 3) else {
      Issue.record("it did not fail")
      return
    }
    #expect(cuts == 1)
  }

  @Test("who leaves before has not been given it")
  func leaves() {
    var cuts = 0
    let body = CutBody(MemoryBody([1, 2]), Self.end) { cuts += 1 }
    _ = body.next(limit: 1)
    body.finish()
    #expect(cuts == 0)
  }
}
