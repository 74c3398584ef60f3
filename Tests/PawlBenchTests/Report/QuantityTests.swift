import Testing

@testable import PawlBench

@Suite("Numbers with their units") struct QuantityTests {
  @Test(
    "are written with three digits, thousands apart",
    arguments: [
      (.count, 0, "0"), (.count, 999, "999"), (.count, 1000, "1,000"), (.count, 12_345_678, "12,345,678"),
      (.perSecond, 45_231.4, "45,231/s"), (.perSecond, 12.345, "12.3/s"), (.perSecond, 0.5, "0.500/s"),
      (.microseconds, 0, "0 µs"), (.microseconds, 5.3, "5.30 µs"), (.microseconds, 834, "834 µs"),
      (.microseconds, 999.4, "999 µs"), (.microseconds, 999.5, "1.00 ms"), (.microseconds, 12_345, "12.3 ms"),
      (.microseconds, 999_499, "999 ms"), (.microseconds, 999_500, "1.00 s"), (.microseconds, 3_600_000_000, "3,600 s"),
      (.seconds, 0.31, "310 ms"), (.seconds, 10, "10.0 s"), (.seconds, 0.000_002, "2 µs"),
      (.bytes, 0, "0 B"), (.bytes, 1023, "1,023 B"), (.bytes, 1024, "1 KiB"), (.bytes, 65_536, "64 KiB"),
      (.bytes, 1_268_777, "1.21 MiB"), (.bytes, 1_073_741_823, "1.00 GiB"), (.bytes, 3e18, "2.60 EiB"),
      (.bytesPerSecond, 1_572_864, "1.50 MiB/s"), (.percent, 87.26, "87.3 %"), (.percent, 0, "0 %"),
      (.percent, 0.0123, "0.0123 %"), (.ratio, 0.584, "0.58×"), (.ratio, 12.34, "12.3×"), (.other(""), 3, "3"),
      (.other("files"), 2.5, "2.50 files"), (.other(""), -1234.5, "-1,235"), (.count, -0.2, "0"),
      (.count, .nan, "–"), (.ratio, .infinity, "–"), (.count, 1e19, "1e+19"),
    ] as [(Quantity, Double, String)])
  func text(_ quantity: Quantity, _ value: Double, _ expected: String) { #expect(quantity.text(value) == expected) }

  @Test(
    "units of a scenario's own facts are known",
    arguments: [
      ("B", .bytes), ("s", .seconds), ("us", .microseconds), ("%", .percent), ("", .other("")), ("x", .other("x")),
    ]
      as [(String, Quantity)])
  func units(_ unit: String, _ quantity: Quantity) { #expect(Quantity(unit: unit) == quantity) }

  @Test("fractions are rounded in their last place")
  func decimals() {
    #expect(Quantity.decimal(0.049, places: 2) == "0.05" && Quantity.decimal(1234.5678, places: 3) == "1,234.568")
    #expect(Quantity.decimal(-0.001, places: 2) == "0.00" && Quantity.decimal(7, places: 0) == "7")
  }
}
