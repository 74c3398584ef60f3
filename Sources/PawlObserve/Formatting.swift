/// Writing numbers and times into a line without a detour over text.
extension [UInt8] {
  mutating func append(text literal: StaticString) {
    literal.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Decimal, at least `width` digits.
  mutating func append(number value: UInt64, width: Int = 1) {
    if value >= 10 || width > 1 { append(number: value / 10, width: width - 1) }
    append(UInt8(truncatingIfNeeded: 0x30 + value % 10))
  }

  mutating func append(hexadecimal octet: UInt8, uppercase: Bool) {
    for digit in [octet >> 4, octet & 15] {
      append(digit < 10 ? 0x30 + digit : (uppercase ? 0x37 : 0x57) + digit)
    }
  }

  /// RFC 3339, UTC, with milliseconds: `2026-11-21T10:00:00.123Z`.
  mutating func append(timestamp milliseconds: Int64) {
    let time = CivilTime(secondsSince1970: milliseconds.dividedDown(by: 1000))
    append(number: UInt64(time.year), width: 4)
    append(0x2d)
    append(number: UInt64(time.month), width: 2)
    append(0x2d)
    append(number: UInt64(time.day), width: 2)
    append(0x54)
    append(clock: time)
    append(0x2e)
    append(number: UInt64((milliseconds % 1000 + 1000) % 1000), width: 3)
    append(0x5a)
  }

  /// `hh:mm:ss`.
  mutating func append(clock time: CivilTime) {
    append(number: UInt64(time.secondOfDay / 3600), width: 2)
    append(0x3a)
    append(number: UInt64(time.secondOfDay / 60 % 60), width: 2)
    append(0x3a)
    append(number: UInt64(time.secondOfDay % 60), width: 2)
  }
}

/// A moment in the Gregorian calendar, UTC, for the years 0 to 9999.
struct CivilTime: Hashable, Sendable {
  let year: Int64, month: Int64, day: Int64
  let secondOfDay: Int64

  init(secondsSince1970 seconds: Int64) {
    // Years 0000 to 9999: anything else is not a time this machine was in.
    let seconds = Swift.min(Swift.max(seconds, -62_167_219_200), 253_402_300_799)
    let days = seconds.dividedDown(by: 86_400)
    secondOfDay = seconds - days * 86_400
    // Days to year, month and day, counting years from March (H. Hinnant, "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468
    let era = shifted.dividedDown(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}

extension Int64 {
  /// Division that rounds towards negative infinity.
  func dividedDown(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
