import Testing

@testable import PawlObserve

@Suite("Facts of the process") struct ProcessFactsTests {
  @Test("fields of /proc/self/stat, whatever the name of the program is")
  func stat() {
    let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 500 4096000 20 0 0"
    for name in ["pawl", "a b", ") 9 9 (x"] {
      var facts = ProcessFacts()
      facts.take(stat: "42 (\(name)) \(rest)\n", pageSize: 4096, ticksPerSecond: 100, bootTime: 1000)
      #expect(facts.startTime == 1005 && facts.virtualBytes == 4_096_000 && facts.residentBytes == 81920)
    }
  }

  @Test("nothing is made up when a file cannot be read")
  func missing() {
    for text in ["", "42 (pawl)", "42 (pawl) S 1 2"] {
      var facts = ProcessFacts()
      facts.take(stat: text, pageSize: 4096, ticksPerSecond: 100, bootTime: nil)
      #expect(facts.startTime == nil && facts.virtualBytes == nil && facts.residentBytes == nil)
    }
    #expect(ProcessFacts.bootTime(in: "cpu 1 2\nbtime 1700000000\nprocesses 3\n") == 1_700_000_000)
    #expect(ProcessFacts.bootTime(in: "cpu 1\n") == nil)
  }

  @Test("of this process")
  func here() throws {
    let facts = ProcessFacts.read()
    #expect(try #require(facts.residentBytes) > 1 << 20)
    #expect(try #require(facts.virtualBytes) >= facts.residentBytes ?? 0)
    #expect(try #require(facts.openDescriptors) >= 3)
    #expect(try #require(facts.maxDescriptors) >= UInt64(facts.openDescriptors ?? 0))
    #expect(try #require(facts.startTime) > 1_600_000_000)
    #expect(facts.cpuMicroseconds != nil)
    var snapshot = MetricsSnapshot()
    snapshot.add(facts)
    #expect(
      MetricFamily.allCases.filter { $0.rawValue.hasPrefix("process_") }.allSatisfy {
        !snapshot.samples(of: $0).isEmpty
      })
  }
}
