import PawlHTTP
import Testing

@testable import PawlServer

@Suite("Fills that go on without readers") struct AbandonedFillLimiterTests {
  @Test("are never more than four per upstream: the least advanced has to end")
  func limit() throws {
    let bench = try ServerBench()
    let response = try bench.stored(total: 1 << 20, held: 0, [(.etag, "\"v\"")])
    for start in 0..<6 {
      Fill.start(
        UInt64(start) << 10..<UInt64(start + 1) << 10, of: response, for: bench.request(), in: bench.store,
        on: bench.downloads)
    }
    let fills = Array(bench.downloads.fills.values)
    let (abandoned, one, other) = (AbandonedFillLimiter(), Upstream(), Upstream())
    for fill in fills[..<4] { #expect(abandoned.add(fill, of: one, on: bench.loop) == nil) }
    #expect(abandoned.add(fills[4], of: other, on: bench.loop) == nil)
    #expect(abandoned.add(fills[3], of: one, on: bench.loop) == nil, "the same again is not one more")
    let ending = abandoned.add(fills[5], of: one, on: bench.loop)
    #expect(ending != nil)
    abandoned.remove(fills[0], of: one)
    abandoned.remove(fills[1], of: one)
    #expect(abandoned.add(fills[4], of: one, on: bench.loop) == nil)
    bench.serverLoop.closeOrigins()
  }

  private final class Upstream {}
}
