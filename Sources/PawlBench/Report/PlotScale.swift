/// The scale of an axis: maps values to positions from 0 to 1, and has the ticks.
struct PlotScale: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case linear, logarithmic }

  struct Tick: Hashable, Sendable {
    var value: Double
    var text: String
  }

  let kind: Kind
  let low: Double
  let high: Double
  private(set) var ticks: [Tick] = []

  /// A scale from `low` to `high` with the given ticks.
  init(_ kind: Kind, low: Double, high: Double, ticks: [Tick]) {
    (self.kind, self.low, self.high, self.ticks) = (kind, low, high, ticks)
  }

  /// A linear scale from 0 to the first round number that is not below `high`.
  init(upTo high: Double, _ quantity: Quantity, count: Int = 5) {
    let high = high.isFinite && high > 0 ? high : 1
    let step = Self.roundStep(high / Double(count), isBinary: quantity == .bytes || quantity == .bytesPerSecond)
    let steps = max(1, Int((high / step).rounded(.up)))
    self.init(
      .linear, low: 0, high: step * Double(steps),
      ticks: (0...steps).map { Tick(value: step * Double($0), text: quantity.tick(step * Double($0))) })
  }

  /// A logarithmic scale from one power of ten to another, with additional ticks at 2 and 5 times each power if there are few
  /// powers. Values below `low` are drawn at the lower end.
  init(logarithmicFrom low: Double, to high: Double, _ quantity: Quantity) {
    let first = Self.log10(max(low, 1e-9)).rounded(.down)
    let last = max(Self.log10(max(high, low, 1e-9)).rounded(.up), first + 1)
    let factors: [Double] = last - first > 3 ? [1] : [1, 2, 5]
    var ticks: [Tick] = []
    var decade = Self.power(Int(first))
    let (low, high) = (decade, Self.power(Int(last)))
    while decade <= high * 1.001 {
      for value in factors.map({ $0 * decade }) where value <= high * 1.001 {
        ticks.append(Tick(value: value, text: quantity.tick(value)))
      }
      decade *= 10
    }
    self.init(.logarithmic, low: low, high: high, ticks: ticks)
  }

  /// A linear scale from 0, or a logarithmic one if the highest value would make the lowest one invisible.
  init(fitting values: [Double], _ quantity: Quantity, count: Int = 5) {
    let known = values.filter { $0.isFinite && $0 > 0 }
    if let low = known.min(), let high = known.max(), high / low > 20 {
      self.init(logarithmicFrom: low, to: high, quantity)
    } else {
      self.init(upTo: known.max() ?? 1, quantity, count: count)
    }
  }

  /// The position of a value: from 0 at the low end to 1 at the high end. Values beyond an end get the position of that end.
  func position(_ value: Double) -> Double {
    let position =
      switch kind {
      case .linear: (value - low) / (high - low)
      case .logarithmic:
        (Self.log10(max(value, low)) - Self.log10(low)) / (Self.log10(high) - Self.log10(low))
      }
    return position.isFinite ? min(1, max(0, position)) : 0
  }

  private static func roundStep(_ step: Double, isBinary: Bool) -> Double {
    var unit = 1.0
    if isBinary {
      while unit * 1024 <= step { unit *= 1024 }
      var factor = 1.0
      while factor * unit < step { factor *= 2 }
      return factor * unit
    }
    while unit * 10 <= step { unit *= 10 }
    while unit > step { unit /= 10 }
    return [1, 2, 2.5, 5].map { $0 * unit }.first { $0 >= step * 0.999 } ?? 10 * unit
  }

  private static func power(_ exponent: Int) -> Double {
    var power = 1.0
    for _ in 0..<exponent.magnitude { power *= 10 }
    return exponent < 0 ? 1 / power : power
  }

  /// The decimal logarithm, exact to about 15 digits. (The module with the C library's function may not be imported here.)
  static func log10(_ value: Double) -> Double {
    guard value > 0, value.isFinite else { return value > 0 ? .infinity : -.infinity }
    var (significand, exponent) = (value.significand, Double(value.exponent))
    if significand > 1.414 { (significand, exponent) = (significand / 2, exponent + 1) }
    // ln m = 2 artanh((m - 1) / (m + 1))
    let ratio = (significand - 1) / (significand + 1)
    var (term, sum) = (ratio, ratio)
    for odd in stride(from: 3.0, through: 23, by: 2) {
      term *= ratio * ratio
      sum += term / odd
    }
    return (2 * sum + exponent * 0.693147180559945309) * 0.434294481903251828
  }
}

extension Quantity {
  /// Writes a value like `text(_:)`, but without zeros at the end of a fraction.
  func tick(_ value: Double) -> String {
    let text = text(value)
    guard let point = text.firstIndex(of: ".") else { return value == 0 ? zero : text }
    let end = text[point...].dropFirst().firstIndex { !$0.isNumber } ?? text.endIndex
    var number = text[..<end]
    while number.last == "0" { number.removeLast() }
    if number.last == "." { number.removeLast() }
    return String(number) + text[end...]
  }

  private var zero: String { self == .percent ? "0 %" : "0" }
}
