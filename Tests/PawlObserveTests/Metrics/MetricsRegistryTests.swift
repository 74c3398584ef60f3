import Testing

@testable import PawlObserve

@Suite("The registry of counters") struct MetricsRegistryTests {
  @Test("an upstream of the same name has the same counters again, one set for each loop")
  func again() {
    let registry = MetricsRegistry()
    let first = registry.counters(ofUpstream: "app", loop: 0)
    first.add(.requests)
    #expect(registry.counters(ofUpstream: "app", loop: 0) === first)
    registry.counters(ofUpstream: "app", loop: 1).add(.requests, 2)
    _ = registry.counters(ofUpstream: "a", loop: 0)
    #expect(registry.upstreams.map(\.name) == ["a", "app"])
    #expect(registry.upstreams[1].loops.reduce(0) { $0 + $1.value(.requests) } == 3)
  }

  @Test("the last name below the limit is told apart; the next ones share one set")
  func limit() {
    let registry = MetricsRegistry()
    let all = (0..<MetricsRegistry.upstreamLimit).map { registry.counters(ofUpstream: "u\($0)", loop: 0) }
    #expect(registry.counters(ofUpstream: "u\(MetricsRegistry.upstreamLimit - 1)", loop: 0) === all.last)
    #expect(registry.upstreams.count == MetricsRegistry.upstreamLimit)
    let one = registry.counters(ofUpstream: "new", loop: 0)
    #expect(registry.counters(ofUpstream: "other", loop: 0) === one)
    #expect(registry.upstreams.first?.name == MetricsRegistry.others)
  }
}
