import PawlCache
import Testing

@Suite("Held bytes") struct HeldBytesTests {
  @Test(
    "melts runs that overlap or touch, and keeps others apart",
    arguments: [
      ([0..<10, 20..<30], [0..<10, 20..<30]),
      ([20..<30, 0..<10], [0..<10, 20..<30]),
      ([0..<10, 10..<20], [0..<20]),
      ([10..<20, 0..<10], [0..<20]),
      ([0..<10, 20..<30, 10..<20], [0..<30]),
      ([0..<10, 20..<30, 40..<50, 5..<45], [0..<50]),
      ([0..<10, 20..<30, 40..<50, 15..<35], [0..<10, 15..<35, 40..<50]),
      ([5..<10, 6..<8], [5..<10]),
      ([5..<10, 5..<10], [5..<10]),
      ([5..<10, 0..<20], [0..<20]),
      ([5..<5], []),
      ([UInt64.max - 1..<UInt64.max], []),
      ([HeldBytes.limit - 1..<UInt64.max], [HeldBytes.limit - 1..<HeldBytes.limit]),
    ] as [([Range<UInt64>], [Range<UInt64>])])
  func inserts(_ ranges: [Range<UInt64>], _ expected: [Range<UInt64>]) {
    let held = HeldBytes(ranges)
    #expect(held.intervals == expected)
    #expect(held.count == expected.reduce(0) { $0 + UInt64($1.count) })
    #expect(held == HeldBytes(ranges.reversed()))
  }

  @Test(
    "cuts out what is taken away",
    arguments: [
      (0..<10, [20..<30, 40..<50]),
      (5..<25, [25..<30, 40..<50]),
      (22..<25, [20..<22, 25..<30, 40..<50]),
      (30..<40, [20..<30, 40..<50]),
      (25..<45, [20..<25, 45..<50]),
      (20..<50, []),
      (0..<UInt64.max, []),
      (7..<7, [20..<30, 40..<50]),
    ] as [(Range<UInt64>, [Range<UInt64>])])
  func removes(_ range: Range<UInt64>, _ expected: [Range<UInt64>]) {
    var held = HeldBytes([20..<30, 40..<50])
    held.remove(range)
    #expect(held.intervals == expected)
  }

  @Test("tells what is missing")
  func gaps() {
    let held = HeldBytes([20..<30, 40..<50])
    #expect(held.gaps(in: 0..<60) == [0..<20, 30..<40, 50..<60])
    #expect(held.gaps(in: 25..<45) == [30..<40])
    #expect(held.gaps(in: 20..<30) == [])
    #expect(held.gaps(in: 29..<31) == [30..<31])
    #expect(held.gaps(in: 55..<55) == [])
    #expect(HeldBytes().gaps(in: 3..<9) == [3..<9])
  }

  @Test("tells how far it reaches, and where it goes on")
  func reach() {
    let held = HeldBytes([0..<10, 20..<30])
    #expect(held.prefix == 10)
    #expect(HeldBytes([1..<10]).prefix == 0)
    #expect(held.contiguousEnd(from: 9) == 10)
    #expect(held.contiguousEnd(from: 10) == 10)
    #expect(held.contiguousEnd(from: 25) == 30)
    #expect(held.contiguousStart(before: 30) == 20)
    #expect(held.contiguousStart(before: 20) == 20)
    #expect(held.contiguousStart(before: 0) == 0)
    #expect(held.nextHeld(after: 0) == 0)
    #expect(held.nextHeld(after: 10) == 20)
    #expect(held.nextHeld(after: 25) == 25)
    #expect(held.nextHeld(after: 30) == nil)
    #expect(held.contains(20..<30))
    #expect(held.contains(15..<15))
    #expect(!held.contains(20..<31))
    #expect(!held.contains(9..<21))
  }

  @Test("agrees with a plain set of offsets over thousands of random steps", arguments: 1...20 as ClosedRange<UInt64>)
  func agreesWithModel(_ seed: UInt64) {
    var random = LinearGenerator(state: seed)
    var (held, model) = (HeldBytes(), [Bool](repeating: false, count: 200))
    for _ in 0..<500 {
      let lower = random.next() % 200
      let range = lower..<min(200, lower + random.next() % 25)
      let isInsertion = random.next() % 3 != 0
      if isInsertion { held.insert(range) } else { held.remove(range) }
      for offset in range { model[Int(offset)] = isInsertion }
      let present = (0..<200 as Range<UInt64>).filter { held.contains($0..<($0 + 1)) }
      #expect(present == model.indices.filter { model[$0] }.map { UInt64($0) })
      #expect(held.count == UInt64(present.count))
      #expect(zip(held.intervals, held.intervals.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      #expect(HeldBytes(held.gaps(in: 0..<200)).count == 200 - held.count)
    }
  }
}

/// Repeatable numbers for tests.
struct LinearGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 33
  }
}
