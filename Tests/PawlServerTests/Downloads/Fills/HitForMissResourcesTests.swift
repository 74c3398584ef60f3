import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("Resources whose requests do not wait for each other", .timeLimit(.minutes(1)))
struct HitForMissResourcesTests {
  private let bench: ServerBench
  private let start = Monotonic(nanoseconds: 1_000_000_000)

  init() throws { bench = try ServerBench() }

  private func key(_ number: Int) -> CacheKey { CacheKey(authority: Bytes("site"), target: Bytes("/\(number)")) }

  private func resource(_ number: Int) throws -> Resource {
    try #require(bench.store.resource(for: key(number), create: true))
  }

  private func isKnown(_ number: Int) -> Bool { bench.store.resource(for: key(number), create: false) != nil }

  private func isMarked(_ resource: Resource) -> Bool { resource.withLock { $0.uncacheableUntil != nil } }

  private func after(_ seconds: Double) -> Monotonic { start.advanced(by: .seconds(seconds)) }

  @Test("one bears its mark for ten seconds, and then leaves the index")
  func forAWhile() throws {
    var marked = HitForMissResources()
    let (one, other) = (try resource(1), try resource(2))
    marked.mark(one, in: bench.store, at: start)
    #expect(isMarked(one) && marked.count == 1)
    marked.letGo(of: one, in: bench.store, at: after(9.9))
    #expect(isKnown(1) && isMarked(one) && marked.count == 1)
    // Another's end is an occasion to look.
    marked.letGo(of: other, in: bench.store, at: after(10))
    #expect(!isKnown(1) && !isMarked(one) && marked.count == 0)
    #expect(!isKnown(2))
  }

  @Test("one that is marked again is remembered once, and longer")
  func renewed() throws {
    var marked = HitForMissResources()
    let (one, other) = (try resource(1), try resource(2))
    for second in [0, 4, 8] { marked.mark(one, in: bench.store, at: after(Double(second))) }
    #expect(marked.count == 1)
    for second in [10.0, 12, 17.9] {
      marked.letGo(of: other, in: bench.store, at: after(second))
      #expect(isKnown(1) && isMarked(one) && marked.count == 1)
    }
    marked.letGo(of: other, in: bench.store, at: after(18))
    #expect(!isKnown(1) && marked.count == 0)
  }

  @Test("so many are remembered; of one more, and of thousands more, the oldest are forgotten")
  func limit() throws {
    var marked = HitForMissResources()
    let limit = HitForMissResources.limit
    for number in 0..<limit { marked.mark(try resource(number), in: bench.store, at: start) }
    #expect(marked.count == limit && isKnown(0))
    marked.mark(try resource(limit), in: bench.store, at: start)
    #expect(marked.count == limit && !isKnown(0) && isKnown(1) && isKnown(limit))
    for number in 0..<2 * limit { marked.mark(try resource(limit + 1 + number), in: bench.store, at: after(1)) }
    #expect(marked.count == limit && !isKnown(limit) && !isKnown(2 * limit) && isKnown(2 * limit + 1))
    // Marked again while there is no room: forgotten when their time is over.
    for number in 0..<limit { marked.mark(try resource(2 * limit + 1 + number), in: bench.store, at: after(5)) }
    #expect(marked.count == limit)
    marked.mark(try resource(0), in: bench.store, at: after(11))
    #expect(marked.count <= limit && isKnown(0))
    marked.mark(try resource(1), in: bench.store, at: after(30))
    #expect(marked.count == 1 && isKnown(1) && !isKnown(0) && !isKnown(3 * limit))
  }

  @Test("one whose mark was forgotten early leaves the index with the next that is done with it")
  func forgotten() throws {
    var marked = HitForMissResources()
    let one = try resource(-1)
    one.withLock { $0.fetch = bench }
    marked.mark(one, in: bench.store, at: start)
    for number in 0..<HitForMissResources.limit { marked.mark(try resource(number), in: bench.store, at: start) }
    #expect(isKnown(-1) && !isMarked(one))
    one.withLock { $0.fetch = nil }
    marked.letGo(of: one, in: bench.store, at: start)
    #expect(!isKnown(-1))
  }
}
