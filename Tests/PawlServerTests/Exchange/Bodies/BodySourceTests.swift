import Testing

@testable import PawlServer

@Suite("Content that is pulled") struct BodySourceTests {
  @Test("a body in memory comes in pieces up to the limit, then ends", arguments: [1, 3, 4, 10])
  func memory(_ limit: Int) {
    let body = MemoryBody([1, 2, 3, 4])
    var seen: [UInt8] = []
    while case .memory(let bytes, let range) = body.next(limit: limit) {
      #expect(range.count <= limit)
      seen += bytes[range]
    }
    #expect(seen == [1, 2, 3, 4])
    guard case .end = body.next(limit: limit) else { return #expect(Bool(false), "not at its end") }
  }

  @Test("a body that is let go of has nothing more")
  func finished() {
    let body = MemoryBody([1])
    body.finish()
    guard case .end = body.next(limit: 1) else { return #expect(Bool(false), "not at its end") }
  }
}
