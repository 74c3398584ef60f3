import PawlBase
import Testing

@testable import PawlObserve

@Suite("Formatting") struct FormattingTests {
  @Test(
    "writes numbers with leading zeros",
    arguments: [
      (0, 1, "0"), (0, 3, "000"), (7, 2, "07"), (200, 3, "200"), (1234, 2, "1234"), (.max, 1, "18446744073709551615"),
    ]
      as [(UInt64, Int, String)])
  func numbers(_ value: UInt64, _ width: Int, _ expected: String) {
    var line: [UInt8] = []
    line.append(decimal: value, width: width)
    #expect(String(decoding: line, as: UTF8.self) == expected)
  }

  @Test(
    "writes times in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1_795_255_200_123, "2026-11-21T10:00:00.123Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (951_868_799_999, "2000-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
    ] as [(Int64, String)])
  func timestamps(_ milliseconds: Int64, _ expected: String) {
    var line: [UInt8] = []
    line.append(timestamp: milliseconds)
    #expect(String(decoding: line, as: UTF8.self) == expected)
  }

  @Test("survives clocks that are far off", arguments: [Int64.min, .min + 1, -62_167_219_200_001, .max - 1, .max])
  func extremes(_ milliseconds: Int64) {
    var line: [UInt8] = []
    line.append(timestamp: milliseconds)
    #expect(line.count == 24)
  }

  @Test("agrees with the calendar on every day of four centuries")
  func calendar() {
    var (year, month, day) = (1900, 1, 1)
    var wrongDays: [Int] = []
    for days in -25_567..<(-25_567 + 146_097) {
      let time = CivilTime(secondsSince1970: Int64(days) * 86_400 + 86_399)
      let isRight = time.year == year && time.month == month && time.day == day && time.secondOfDay == 86_399
      if !isRight { wrongDays.append(days) }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect(wrongDays.isEmpty)
    #expect(year == 2300)
  }
}
