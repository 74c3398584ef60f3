/// The kind of a number in a report, and how it is written: three significant digits, with a comma between thousands.
package enum Quantity: Hashable, Sendable {
  case count
  case perSecond
  case microseconds
  case seconds
  case bytes
  case bytesPerSecond
  /// A percentage: the value 100 is written as `100 %`.
  case percent
  /// A value divided by another value of the same kind.
  case ratio
  /// A number with the given unit; the unit is empty for a number without one.
  case other(String)

  /// The quantity for a unit of ``RunResult/Extra``.
  package init(unit: String) {
    switch unit {
    case "B": self = .bytes
    case "s": self = .seconds
    case "us", "µs": self = .microseconds
    case "%": self = .percent
    default: self = .other(unit)
    }
  }

  /// The text for a number that was not measured.
  package static let nothing = "–"

  package func text(_ value: Double) -> String {
    guard value.isFinite else { return Self.nothing }
    switch self {
    case .count: return Self.decimal(value, places: 0)
    case .perSecond: return Self.significant(value) + "/s"
    case .microseconds: return Self.time(value)
    case .seconds: return Self.time(value * 1e6)
    case .bytes: return Self.size(value)
    case .bytesPerSecond: return Self.size(value) + "/s"
    case .percent: return Self.significant(value) + " %"
    case .ratio: return Self.decimal(value, places: value.magnitude < 10 ? 2 : 1) + "×"
    case .other(let unit):
      let number = value == value.rounded() ? Self.decimal(value, places: 0) : Self.significant(value)
      return unit.isEmpty ? number : "\(number) \(unit)"
    }
  }

  package func text(_ value: UInt64) -> String { text(Double(value)) }

  /// Writes microseconds: `834 µs`, `1.25 ms`, `2.05 s`.
  private static func time(_ value: Double) -> String {
    let size = value.magnitude
    if size < 999.5 {
      return (size == size.rounded() ? decimal(value, places: 0) : significant(value)) + " µs"
    }
    if size < 999_500 { return significant(value / 1e3) + " ms" }
    return significant(value / 1e6) + " s"
  }

  /// Writes bytes: `512 B`, `64 KiB`, `1.21 MiB`.
  private static func size(_ value: Double) -> String {
    guard value.magnitude >= 1023.5 else { return decimal(value, places: 0) + " B" }
    var scaled = value / 1024
    var units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][...]
    while scaled.magnitude >= 1023.5, units.count > 1 {
      scaled /= 1024
      units = units.dropFirst()
    }
    let number = scaled == scaled.rounded() ? decimal(scaled, places: 0) : significant(scaled)
    return "\(number) \(units.first ?? "")"
  }

  private static func significant(_ value: Double) -> String {
    let size = value.magnitude
    if size == 0 || size >= 99.95 { return decimal(value, places: 0) }
    if size >= 9.995 { return decimal(value, places: 1) }
    if size >= 0.9995 { return decimal(value, places: 2) }
    return decimal(value, places: size >= 0.09995 ? 3 : 4)
  }

  /// Writes a number with commas between thousands and a point before the fraction.
  package static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite else { return nothing }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 9e18 else { return "\(value)" }
    let digits = String(UInt64(scaled))
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    let whole = padded.dropLast(places)
    var grouped = ""
    for (index, digit) in whole.enumerated() {
      if index > 0, (whole.count - index) % 3 == 0 { grouped += "," }
      grouped.append(digit)
    }
    let sign = value < 0 && scaled > 0 ? "-" : ""
    return sign + grouped + (places > 0 ? "." + padded.suffix(places) : "")
  }
}
