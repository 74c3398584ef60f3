import Testing

@testable import PawlBench

@Suite("Axes of plots") struct PlotScaleTests {
  private static let rounds: [(high: Double, quantity: Quantity, texts: [String])] = [
    (143, .microseconds, ["0", "50 µs", "100 µs", "150 µs"]),
    (1000, .microseconds, ["0", "200 µs", "400 µs", "600 µs", "800 µs", "1 ms"]),
    (0.7, .percent, ["0 %", "0.2 %", "0.4 %", "0.6 %", "0.8 %"]),
    (65_000, .other(""), ["0", "20,000", "40,000", "60,000", "80,000"]),
    (100, .bytes, ["0", "32 B", "64 B", "96 B", "128 B"]),
    (13_631_488, .bytes, ["0", "4 MiB", "8 MiB", "12 MiB", "16 MiB"]),
    (0, .other(""), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
  ]

  @Test("begin at 0 and end at a round number", arguments: rounds)
  func linear(_ high: Double, _ quantity: Quantity, _ texts: [String]) {
    let scale = PlotScale(upTo: high, quantity)
    #expect(scale.low == 0 && scale.high >= high && scale.kind == .linear)
    #expect(scale.position(0) == 0 && scale.position(scale.high) == 1 && scale.position(scale.high * 2) == 1)
    #expect(scale.ticks.map(\.text) == texts)
  }

  @Test("in decades have ticks between them only where there are few")
  func logarithmic() {
    let few = PlotScale(logarithmicFrom: 150, to: 8000, .microseconds)
    #expect(few.ticks.map(\.text) == ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"])
    #expect(abs(few.position(1000) - 0.5) < 1e-12 && few.position(1) == 0 && few.position(1e9) == 1)
    let many = PlotScale(logarithmicFrom: 1, to: 2_000_000, .microseconds)
    #expect(many.ticks.map(\.text) == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"])
    #expect(PlotScale(logarithmicFrom: 0, to: 0, .microseconds).position(0).isFinite)
  }

  @Test("are in decades where the values lie far apart")
  func fitting() {
    #expect(PlotScale(fitting: [100, 2000], .microseconds).kind == .linear)
    #expect(PlotScale(fitting: [100, 2001], .microseconds).kind == .logarithmic)
    #expect(PlotScale(fitting: [0, .nan, 5], .microseconds).kind == .linear)
    #expect(PlotScale(fitting: [], .microseconds).high == 1)
  }

  @Test(
    "know logarithms",
    arguments: [
      (1, 0), (10, 1), (1000, 3), (2, 0.301029995663981), (0.001, -3), (3e15, 15.47712125471966), (1e-300, -300),
    ]
      as [(Double, Double)])
  func log10(_ value: Double, _ expected: Double) {
    #expect(abs(PlotScale.log10(value) - expected) <= 1e-14 * max(1, abs(expected)))
  }

  @Test("know no logarithm of what has none")
  func noLogarithm() {
    #expect(
      PlotScale.log10(0) == -.infinity && PlotScale.log10(-1) == -.infinity && PlotScale.log10(.infinity) == .infinity)
  }

  @Test("have ticks without zeros at the end")
  func ticks() {
    #expect(Quantity.microseconds.tick(2500) == "2.5 ms" && Quantity.microseconds.tick(10_000) == "10 ms")
    #expect(Quantity.bytes.tick(0) == "0" && Quantity.percent.tick(0) == "0 %" && Quantity.count.tick(1000) == "1,000")
  }
}
