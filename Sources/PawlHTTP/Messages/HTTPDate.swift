import PawlBase

/// Converts HTTP dates to and from seconds since 1970-01-01T00:00:00Z (RFC 9110 §5.6.7).
///
/// All three formats are read. Names of days and months, and `GMT`, are compared without case, which RFC 9111 §4.2 allows caches;
/// everything else has to be exact. A day name that does not match its date is accepted.
package enum HTTPDate {
  /// Parses a date; `nil` when the value is not a date. Two-digit years are from 1970 to 2069, since no clock is given.
  package static func parse(_ value: Bytes) -> Int64? {
    parse(value) { date in date.seconds(inYear: date.year + (date.year < 70 ? 2000 : 1900)) }
  }

  /// Like ``parse(_:)``, but a two-digit year is the latest one that is at most 50 years after `now`.
  package static func parse(_ value: Bytes, now: Int64) -> Int64? {
    parse(value) { date in
      let today = CivilDate(daysSince1970: now.dividedDown(by: secondsOfDay))
      let latest = Int(today.year) + 50
      let year = latest - (latest - date.year).restDown(by: 100)
      let limit = CivilDate(year: today.year + 50, month: today.month, day: today.day).daysSince1970 * secondsOfDay
      guard let seconds = date.seconds(inYear: year), seconds <= limit + now.restDown(by: secondsOfDay) else {
        return date.seconds(inYear: year - 100)
      }
      return seconds
    }
  }

  private static func parse(_ value: Bytes, twoDigitYear: (Broken) -> Int64?) -> Int64? {
    var scanner = ByteScanner(value)
    switch (value.count, value.dropFirst(3).first) {
    case (29, 0x2c):
      guard let date = Broken(fixdate: &scanner), scanner.isAtEnd else { return nil }
      return date.seconds(inYear: date.year)
    case (24, 0x20):
      guard let date = Broken(asctime: &scanner), scanner.isAtEnd else { return nil }
      return date.seconds(inYear: date.year)
    default:
      guard let date = Broken(rfc850: &scanner), scanner.isAtEnd else { return nil }
      return twoDigitYear(date)
    }
  }

  /// Formats an IMF-fixdate of 29 bytes, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Years are limited to 0 to 9999.
  package static func format(_ seconds: Int64) -> [UInt8] {
    let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
    let days = seconds.dividedDown(by: secondsOfDay)
    let second = seconds.restDown(by: secondsOfDay)
    let date = CivilDate(daysSince1970: days)
    var output: [UInt8] = []
    output.reserveCapacity(29)
    output.append(DateNames.weekdays[Int((days + 4).restDown(by: 7))])
    output.append(", " as StaticString)
    output.append(decimal: UInt64(date.day), width: 2)
    output.append(0x20)
    output.append(DateNames.months[Int(date.month) - 1])
    output.append(0x20)
    output.append(decimal: UInt64(date.year), width: 4)
    output.append(0x20)
    output.append(decimal: UInt64(second / 3600), width: 2)
    output.append(0x3a)
    output.append(decimal: UInt64(second / 60 % 60), width: 2)
    output.append(0x3a)
    output.append(decimal: UInt64(second % 60), width: 2)
    output.append(" GMT" as StaticString)
    return output
  }
}

private let secondsOfDay: Int64 = 86_400

/// A date in its parts; the year may have two digits.
private struct Broken {
  var year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  init?(fixdate scanner: inout ByteScanner) {
    guard scanner.skipName(of: DateNames.weekdays) != nil, scanner.skip(ignoringCase: ", "),
      let day = scanner.decimal(digits: 2), scanner.skip(0x20),
      let month = scanner.skipName(of: DateNames.months), scanner.skip(0x20),
      let year = scanner.decimal(digits: 4), scanner.skip(0x20),
      readTime(&scanner), scanner.skip(ignoringCase: " GMT")
    else { return nil }
    (self.year, self.month, self.day) = (year, month + 1, day)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`
  init?(rfc850 scanner: inout ByteScanner) {
    guard scanner.skipName(of: DateNames.longWeekdays) != nil, scanner.skip(ignoringCase: ", "),
      let day = scanner.decimal(digits: 2), scanner.skip(0x2d),
      let month = scanner.skipName(of: DateNames.months), scanner.skip(0x2d),
      let year = scanner.decimal(digits: 2), scanner.skip(0x20),
      readTime(&scanner), scanner.skip(ignoringCase: " GMT")
    else { return nil }
    (self.year, self.month, self.day) = (year, month + 1, day)
  }

  /// `Sun Nov  6 08:49:37 1994`
  init?(asctime scanner: inout ByteScanner) {
    guard scanner.skipName(of: DateNames.weekdays) != nil, scanner.skip(0x20),
      let month = scanner.skipName(of: DateNames.months), scanner.skip(0x20),
      let day = scanner.skip(0x20) ? scanner.decimal(digits: 1) : scanner.decimal(digits: 2), scanner.skip(0x20),
      readTime(&scanner), scanner.skip(0x20),
      let year = scanner.decimal(digits: 4)
    else { return nil }
    (self.year, self.month, self.day) = (year, month + 1, day)
  }

  private mutating func readTime(_ scanner: inout ByteScanner) -> Bool {
    guard let hour = scanner.decimal(digits: 2), scanner.skip(0x3a),
      let minute = scanner.decimal(digits: 2), scanner.skip(0x3a),
      let second = scanner.decimal(digits: 2)
    else { return false }
    (self.hour, self.minute, self.second) = (hour, minute, second)
    return true
  }

  /// Seconds since 1970; `nil` when there is no such day or time. Second 60 is a leap second.
  func seconds(inYear year: Int) -> Int64? {
    guard (1...Self.days(inMonth: month, of: year)).contains(day), hour < 24, minute < 60, second <= 60 else {
      return nil
    }
    let days = CivilDate(year: Int64(year), month: Int64(month), day: Int64(day)).daysSince1970
    return days * secondsOfDay + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

private enum DateNames {
  static let weekdays: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let longWeekdays: [StaticString] = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  static let months: [StaticString] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}

extension ByteScanner {
  fileprivate mutating func skipName(of names: [StaticString]) -> Int? {
    for (index, name) in names.enumerated() where skip(ignoringCase: name) { return index }
    return nil
  }
}
