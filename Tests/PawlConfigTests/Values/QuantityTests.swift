import Testing

@testable import PawlConfig

@Suite("Quantities") struct QuantityTests {
  @Test(
    "sizes are binary",
    arguments: [
      ("0", 0), ("512", 512), ("64K", 65536), ("10m", 10 << 20), ("5G", 5 << 30), ("2T", 2 << 40),
      ("9223372036854775807", UInt64(Int64.max)), ("8388607T", 8_388_607 << 40), ("9223372036854775808", nil),
      ("8388608T", nil), ("", nil), ("K", nil), ("-1", nil), ("+1", nil), ("1.5G", nil), ("10GB", nil), ("1 K", nil),
      ("１", nil), ("0x10", nil),
    ] as [(String, UInt64?)])
  func sizes(_ text: String, _ expected: UInt64?) { #expect(Quantity.size(text) == expected) }

  @Test(
    "times carry a unit",
    arguments: [
      ("0s", .zero), ("500ms", .milliseconds(500)), ("30s", .seconds(30)), ("15m", .seconds(900)),
      ("24h", .seconds(86400)), ("7d", .seconds(604_800)), ("3650d", .seconds(315_360_000)), ("3651d", nil),
      ("30", nil),
      ("s", nil), ("-1s", nil), ("1h30m", nil), ("1 s", nil), ("99999999999999999999s", nil),
      ("9223372036854775807d", nil),
    ] as [(String, Duration?)])
  func times(_ text: String, _ expected: Duration?) { #expect(Quantity.time(text) == expected) }

  @Test(
    "rates are a size in a time",
    arguments: [
      ("1K/60s", Rate(bytes: 1024, per: .seconds(60))), ("0/1s", Rate(bytes: 0, per: .seconds(1))), ("1K", nil),
      ("1K/0s", nil), ("1K/s", nil), ("1K/1s/1s", nil),
    ] as [(String, Rate?)])
  func rates(_ text: String, _ expected: Rate?) { #expect(Quantity.rate(text) == expected) }

  @Test("percentages go from 0 to 100", arguments: [("25%", 25), ("0%", 0), ("100%", 100), ("101%", nil), ("25", nil)])
  func percentages(_ text: String, _ expected: Int?) { #expect(Quantity.percentage(text) == expected) }

  @Test(
    "switches have four spellings",
    arguments: [
      ("on", true), ("Yes", true), ("TRUE", true), ("1", true), ("off", false), ("no", false), ("false", false),
      ("0", false), ("2", nil), ("", nil),
    ])
  func booleans(_ text: String, _ expected: Bool?) { #expect(Quantity.boolean(text) == expected) }

  @Test("are shown as the manual writes them")
  func shown() {
    #expect(
      [0, 1000, 1 << 10, 32 << 10, 1 << 30, 3 << 40].map { Quantity.show(size: $0) } == [
        "0", "1000", "1K", "32K", "1G", "3T",
      ])
    let times: [Duration] = [
      .zero, .milliseconds(1500), .seconds(60), .seconds(900), .seconds(3600), .seconds(86400), .seconds(604_800),
    ]
    #expect(times.map { Quantity.show(time: $0) } == ["0s", "1500ms", "60s", "15m", "1h", "24h", "7d"])
  }

  @Test("what people mean by other spellings is found")
  func repaired() {
    #expect(["10GB", "10 G", "5MiB", "10G", "x"].map(Quantity.repairedSize) == ["10G", "10G", "5M", nil, nil])
    #expect(["30", "5min", "2 hours", "1w", ""].map(Quantity.repairedTime) == ["30s", "5m", "2h", nil, nil])
  }
}
