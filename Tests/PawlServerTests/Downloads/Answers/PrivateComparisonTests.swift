import PawlCacheStore
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("A new body, compared with a kept one") struct PrivateComparisonTests {
  private static let size = (2 << 20) + 10

  private final class Outcome {
    var states: [PrivateComparison.State] = []
    var news = 0
  }

  private func compare(
    _ bench: ServerBench, _ kept: StoredResponse, _ new: StoredResponse
  ) -> (PrivateComparison, Outcome) {
    let outcome = Outcome()
    let comparison = PrivateComparison(kept, with: new, on: bench.downloads, goesOnAlone: true) {
      outcome.states.append($0)
    }
    comparison.progressed = { outcome.news += 1 }
    comparison.start()
    return (comparison, outcome)
  }

  @Test("equal ones are equal to their end; it is held by its loop until then")
  func equal() throws {
    let bench = try ServerBench()
    let (kept, new) = (try bench.stored(total: UInt64(Self.size)), try bench.stored(total: UInt64(Self.size)))
    let (comparison, outcome) = compare(bench, kept, new)
    #expect(bench.downloads.comparisons.count == 1)
    bench.turn { comparison.state != .comparing }
    #expect(outcome.states == [.equal] && comparison.compared == UInt64(Self.size) && outcome.news == 4)
    #expect(bench.downloads.comparisons.isEmpty && kept.body.readers.count == 0 && new.body.readers.count == 0)
  }

  @Test("it tells the byte at which they differ", arguments: [0, 5, 1 << 20, size - 1])
  func different(_ place: Int) throws {
    let bench = try ServerBench()
    let kept = try bench.stored(total: UInt64(Self.size))
    let new = try bench.stored(total: UInt64(Self.size), held: place)
    var rest = OriginStep.pattern(from: UInt64(place), count: Self.size - place)
    rest[0] ^= 1
    try rest.withUnsafeBytes { _ = try new.body.write($0, at: UInt64(place)) }
    new.body.complete()
    let (comparison, outcome) = compare(bench, kept, new)
    bench.turn { comparison.state != .comparing }
    #expect(outcome.states == [.different] && comparison.compared == UInt64(place))
  }

  @Test("other lengths, and bodies that end before the other does, differ")
  func lengths() throws {
    let bench = try ServerBench()
    for (total, held) in [(9, 9), (11, 11), (nil, 9), (nil, 10), (nil, 11), (10, 4)] as [(UInt64?, Int)] {
      let (kept, new) = (try bench.stored(total: 10), try bench.stored(total: total, held: held))
      let (comparison, outcome) = compare(bench, kept, new)
      bench.turn { comparison.state != .comparing }
      #expect(outcome.states == [.different], "\(String(describing: total)), \(held) held")
    }
  }

  @Test("one whose client has left, and that is of no use to anybody, ends; one that is stopped says nothing")
  func ends() throws {
    let bench = try ServerBench()
    let (kept, new) = (try bench.stored(total: 10), try bench.stored(total: 10))
    let (comparison, outcome) = compare(bench, kept, new)
    comparison.stop()
    comparison.stop()
    #expect(outcome.states == [] && outcome.news == 0 && bench.downloads.comparisons.isEmpty)
    var states: [PrivateComparison.State] = []
    let left = PrivateComparison(kept, with: new, on: bench.downloads, goesOnAlone: false) { states.append($0) }
    left.start()
    left.clientLeft()
    #expect(states == [.different] && bench.downloads.comparisons.isEmpty)
    bench.turn { true }
  }
}
