import PawlLoop
import Testing

@testable import PawlServer

@Suite("A long body in memory") struct PacedBodyTests {
  /// Pulls all that comes in one turn, and notes how much that was.
  private final class Puller: BodyConsumer {
    let body: PacedBody
    private(set) var seen: [UInt8] = []
    private(set) var turns: [Int] = []
    private(set) var hasEnded = false

    init(_ body: PacedBody) {
      self.body = body
      body.consumer = self
    }

    func bodyIsReady() {
      let before = seen.count
      defer { turns.append(seen.count - before) }
      while true {
        switch body.next(limit: 100_000) {
        case .memory(let bytes, let range): seen += bytes[range]
        case .end: return hasEnded = true
        default: return
        }
      }
    }
  }

  @Test(
    "comes in pieces, one a turn", arguments: [0, 1, PacedBody.piece, PacedBody.piece + 1, 3 * PacedBody.piece - 1])
  func pieces(_ count: Int) throws {
    let loop = try EventLoop(index: 0)
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 1000) }
    let puller = Puller(PacedBody(bytes, on: loop))
    puller.bodyIsReady()
    loop.turn { !puller.hasEnded }
    #expect(puller.seen == bytes)
    #expect(puller.turns.allSatisfy { $0 <= PacedBody.piece })
    #expect(puller.turns.count <= count / PacedBody.piece + 2)
  }

  @Test("says nothing after its end was given up")
  func finished() throws {
    let loop = try EventLoop(index: 0)
    let puller = Puller(PacedBody(Array(repeating: 1, count: 2 * PacedBody.piece), on: loop))
    puller.bodyIsReady()
    puller.body.finish()
    loop.turn { !puller.hasEnded }
    #expect(puller.seen.count == PacedBody.piece)
  }
}
