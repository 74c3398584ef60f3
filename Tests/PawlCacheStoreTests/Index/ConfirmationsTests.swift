import PawlCache
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What the origin has said to single clients a moment ago") struct ConfirmationsTests {
  private func at(_ milliseconds: UInt64) -> Monotonic { Monotonic(nanoseconds: milliseconds * 1_000_000) }

  @Test("counts for that client alone, and for so long")
  func time() throws {
    let fixture = try StoreFixture()
    let (a, b) = (try fixture.store("/a", [1], total: 1, tag: "a"), try fixture.store("/b", [2], total: 1, tag: "b"))
    var said = Confirmations()
    #expect(said.isEmpty && said.response(for: [1], at: at(0)) == nil)
    said.note(a, for: [1], at: at(0))
    #expect(said.response(for: [1], at: at(4999)) === a && said.response(for: [2], at: at(0)) == nil)
    #expect(said.response(for: [1], at: at(5000)) == nil && !said.isEmpty)
    said.note(b, for: [1], at: at(4000))
    #expect(said.response(for: [1], at: at(8999)) === b)
    said.removeAll()
    #expect(said.isEmpty)
  }

  @Test(
    "so many clients are remembered, and the first of one more is forgotten; those whose time is over go by themselves")
  func limit() throws {
    let fixture = try StoreFixture()
    let a = try fixture.store("/a", [1], total: 1, tag: "a")
    var said = Confirmations()
    for number in 0..<UInt8(Confirmations.limit) { said.note(a, for: [number], at: at(0)) }
    #expect(said.response(for: [0], at: at(1)) === a)
    said.note(a, for: [255], at: at(0))
    #expect(said.response(for: [0], at: at(1)) == nil && said.response(for: [1], at: at(1)) === a)
    said.note(a, for: [254], at: at(5000))
    #expect(said.response(for: [255], at: at(4999)) == nil && said.response(for: [254], at: at(5001)) === a)
  }
}
