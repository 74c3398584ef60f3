/// A number of bytes in a span of time, such as `1K/60s`.
package struct Rate: Hashable, Sendable {
  package var bytes: UInt64
  package var per: Duration

  package init(bytes: UInt64, per: Duration) { (self.bytes, self.per) = (bytes, per) }
}

/// Reads and writes quantities. Every reader returns `nil` for a text that is not exactly one quantity.
package enum Quantity {
  private static let sizeUnits: [(letter: Character, bytes: UInt64)] = [
    ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
  ]
  private static let timeUnits: [(name: String, milliseconds: Int64)] = [
    ("ms", 1), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000),
  ]
  /// The longest time that a configuration key may have: ten years. Arithmetic on times up to this one cannot overflow.
  static let longestTime = Duration.seconds(3650 * 86400)

  /// Reads a number that consists of ASCII digits only, without sign, space or decimal point.
  static func number(_ text: some StringProtocol) -> UInt64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(text)
  }

  /// Reads a number of bytes: `512`, `64K`, `10M`, `5G`, `2T`; binary units, in upper or lower case.
  static func size(_ text: String) -> UInt64? {
    guard let last = text.last else { return nil }
    let upper = Character(last.uppercased())
    guard let unit = sizeUnits.first(where: { $0.letter == upper }) else { return bounded(number(text)) }
    guard let count = number(text.dropLast()) else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    return overflow ? nil : bounded(bytes)
  }

  private static func bounded(_ bytes: UInt64?) -> UInt64? {
    bytes.flatMap { $0 <= UInt64(Int64.max) ? $0 : nil }
  }

  /// Reads an integer with its unit: `500ms`, `30s`, `15m`, `24h`, `7d`.
  package static func time(_ text: some StringProtocol) -> Duration? {
    for unit in timeUnits where text.hasSuffix(unit.name) {
      guard let count = number(text.dropLast(unit.name.count)), count <= UInt64(Int64.max) else { return nil }
      let (milliseconds, overflow) = Int64(count).multipliedReportingOverflow(by: unit.milliseconds)
      guard !overflow, milliseconds <= longestTime.components.seconds * 1000 else { return nil }
      return .milliseconds(milliseconds)
    }
    return nil
  }

  /// Reads `SIZE/TIME`; the time is not zero.
  static func rate(_ text: String) -> Rate? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let bytes = size(String(parts[0])), let per = time(parts[1]), per > .zero else {
      return nil
    }
    return Rate(bytes: bytes, per: per)
  }

  /// Reads `0%` to `100%`.
  static func percentage(_ text: String) -> Int? {
    guard text.hasSuffix("%"), let count = number(text.dropLast()), count <= 100 else { return nil }
    return Int(count)
  }

  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "on", "yes", "true", "1": true
    case "off", "no", "false", "0": false
    default: nil
    }
  }

  static func show(size: UInt64) -> String {
    for unit in sizeUnits where size > 0 && size % unit.bytes == 0 { return "\(size / unit.bytes)\(unit.letter)" }
    return "\(size)"
  }

  /// Writes a time as the manual does: `60s`, `15m`, `1h`, `24h`, `7d`.
  static func show(time: Duration) -> String {
    let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    let units: [(String, Int64, atLeast: Int64)] = [
      ("d", 86_400_000, 2), ("h", 3_600_000, 1), ("m", 60_000, 2), ("s", 1000, 0),
    ]
    for (name, length, atLeast) in units where milliseconds % length == 0 && milliseconds / length >= atLeast {
      return "\(milliseconds / length)\(name)"
    }
    return "\(milliseconds)ms"
  }

  static func show(rate: Rate) -> String { "\(show(size: rate.bytes))/\(show(time: rate.per))" }

  /// Returns what a mistyped quantity most likely means: `10GB` → `10G`, `30` → `30s`, `5 M` → `5M`.
  static func repairedSize(_ text: String) -> String? {
    let compact = String(text.filter { $0 != " " })
    for ending in ["", "iB", "ib", "B", "b", "i"] where compact.hasSuffix(ending) {
      let candidate = String(compact.dropLast(ending.count))
      if candidate != text, size(candidate) != nil { return candidate }
    }
    return nil
  }

  static func repairedTime(_ text: String) -> String? {
    let compact = text.lowercased().filter { $0 != " " }
    let digits = compact.prefix { ("0"..."9").contains($0) }
    let units = [
      "": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
      "minutes": "m", "hour": "h", "hours": "h", "day": "d", "days": "d", "msec": "ms", "s": "s", "m": "m", "h": "h",
      "d": "d", "ms": "ms",
    ]
    guard !digits.isEmpty, let unit = units[String(compact.dropFirst(digits.count))] else { return nil }
    return time(digits + unit) == nil ? nil : digits + unit
  }
}
