import PawlBase

/// Appends text and times to a line of bytes, without intermediate strings.
extension [UInt8] {
  mutating func append(text literal: StaticString) {
    literal.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// Appends a time as in RFC 3339, UTC, with milliseconds: `2026-11-21T10:00:00.123Z`.
  mutating func append(timestamp milliseconds: Int64) {
    let time = CivilTime(secondsSince1970: milliseconds.dividedDown(by: 1000))
    append(decimal: UInt64(time.year), width: 4)
    append(0x2d)
    append(decimal: UInt64(time.month), width: 2)
    append(0x2d)
    append(decimal: UInt64(time.day), width: 2)
    append(0x54)
    append(clock: time)
    append(0x2e)
    append(decimal: UInt64(milliseconds.restDown(by: 1000)), width: 3)
    append(0x5a)
  }

  /// Appends `hh:mm:ss`.
  mutating func append(clock time: CivilTime) {
    append(decimal: UInt64(time.secondOfDay / 3600), width: 2)
    append(0x3a)
    append(decimal: UInt64(time.secondOfDay / 60 % 60), width: 2)
    append(0x3a)
    append(decimal: UInt64(time.secondOfDay % 60), width: 2)
  }
}

/// A moment in the Gregorian calendar, UTC, for the years 0 to 9999.
struct CivilTime: Hashable, Sendable {
  let date: CivilDate
  let secondOfDay: Int64

  var year: Int64 { date.year }
  var month: Int64 { date.month }
  var day: Int64 { date.day }

  init(secondsSince1970 seconds: Int64) {
    // Clamped to the years 0000 to 9999, because the clock of this machine cannot show other years.
    let seconds = Swift.min(Swift.max(seconds, -62_167_219_200), 253_402_300_799)
    date = CivilDate(daysSince1970: seconds.dividedDown(by: 86_400))
    secondOfDay = seconds.restDown(by: 86_400)
  }
}
