import CLinux
import PawlBase

/// The text of nginx's `$time_local`, `21/Nov/2026:10:00:00 +0100`, and of `$time_iso8601`, `2026-11-21T10:00:00+01:00`, cached for
/// one second.
struct LocalTimeText: Sendable {
  private var second = Int64.min
  private var text: [UInt8] = []
  private var iso: [UInt8] = []

  mutating func text(ofSecond second: Int64) -> [UInt8] {
    refresh(second)
    return text
  }

  mutating func iso(ofSecond second: Int64) -> [UInt8] {
    refresh(second)
    return iso
  }

  private mutating func refresh(_ second: Int64) {
    guard second != self.second else { return }
    let offset = Self.offset(at: second)
    self.second = second
    text = Self.format(second, secondsEastOfUTC: offset)
    iso = Self.iso(second, secondsEastOfUTC: offset)
  }

  private static func offset(at second: Int64) -> Int64 {
    var (broken, time) = (tm(), time_t(second))
    localtime_r(&time, &broken)
    return Int64(broken.tm_gmtoff)
  }

  static func format(_ second: Int64, secondsEastOfUTC offset: Int64) -> [UInt8] {
    let time = CivilTime(secondsSince1970: second.addingReportingOverflow(offset).partialValue)
    var text: [UInt8] = []
    text.append(decimal: UInt64(time.day), width: 2)
    text.append(0x2f)
    text.append(text: monthName(time.month))
    text.append(0x2f)
    text.append(decimal: UInt64(time.year), width: 4)
    text.append(0x3a)
    text.append(clock: time)
    text.append(0x20)
    append(offset: offset, colon: false, to: &text)
    return text
  }

  static func iso(_ second: Int64, secondsEastOfUTC offset: Int64) -> [UInt8] {
    let time = CivilTime(secondsSince1970: second.addingReportingOverflow(offset).partialValue)
    var text: [UInt8] = []
    text.append(decimal: UInt64(time.year), width: 4)
    text.append(0x2d)
    text.append(decimal: UInt64(time.month), width: 2)
    text.append(0x2d)
    text.append(decimal: UInt64(time.day), width: 2)
    text.append(0x54)
    text.append(clock: time)
    append(offset: offset, colon: true, to: &text)
    return text
  }

  private static func append(offset: Int64, colon: Bool, to text: inout [UInt8]) {
    text.append(offset < 0 ? 0x2d : 0x2b)
    text.append(decimal: UInt64(offset.magnitude / 3600), width: 2)
    if colon { text.append(0x3a) }
    text.append(decimal: UInt64(offset.magnitude / 60 % 60), width: 2)
  }

  /// The local time of a message to syslog (RFC 3164 §4.1.2): `Nov 21 10:00:00`, the day with a space in place of a zero.
  static func syslog(_ second: Int64) -> [UInt8] { syslog(second, secondsEastOfUTC: offset(at: second)) }

  static func syslog(_ second: Int64, secondsEastOfUTC offset: Int64) -> [UInt8] {
    let time = CivilTime(secondsSince1970: second.addingReportingOverflow(offset).partialValue)
    var text: [UInt8] = []
    text.append(text: monthName(time.month))
    text.append(text: time.day < 10 ? "  " : " ")
    text.append(decimal: UInt64(time.day))
    text.append(0x20)
    text.append(clock: time)
    return text
  }

  private static func monthName(_ month: Int64) -> StaticString {
    switch month {
    case 1: "Jan"
    case 2: "Feb"
    case 3: "Mar"
    case 4: "Apr"
    case 5: "May"
    case 6: "Jun"
    case 7: "Jul"
    case 8: "Aug"
    case 9: "Sep"
    case 10: "Oct"
    case 11: "Nov"
    default: "Dec"
    }
  }
}
