import Testing

@testable import PawlUpstream

@Suite("How many may last as long as they like") struct LiveLimitTests {
  private func holder(_ client: UInt64) -> PlaceHolder { PlaceHolder(client: client, path: 7) }

  /// Whether each of these clients got one, in turn.
  private func taken(_ live: inout LiveLimit, _ clients: [UInt64]) -> [Bool] { clients.map { live.take(holder($0)) } }

  @Test("so many at the limit, and not one more; one that ends makes room")
  func limit() {
    var live = LiveLimit(limit: 2, clientShare: 100)
    var got = taken(&live, [1, 1, 2])
    #expect(got == [true, true, false])
    live.giveBack(holder(1))
    #expect(live.count == 1)
    got = taken(&live, [2, 1])
    #expect(got == [true, false] && live.count == 2)
    var none = LiveLimit(limit: 0, clientShare: 80)
    got = taken(&none, [1])
    #expect(got == [false] && none.count == 0)
  }

  @Test("one client holds its share and no more; those of one path have no share")
  func share() {
    var live = LiveLimit(limit: 10, clientShare: 50)
    var got = taken(&live, [1, 1, 1, 1, 1, 1])
    #expect(got == [true, true, true, true, true, false])
    got = taken(&live, [2, 2, 2, 2, 2, 3])
    #expect(got == [true, true, true, true, true, false] && live.count == 10)
    for _ in 0..<5 { live.giveBack(holder(1)) }
    got = taken(&live, [1, 3])
    #expect(got == [true, true] && live.count == 7)
  }
}
