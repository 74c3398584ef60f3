/// The reason why a value was refused, for the error message.
struct BadValue: Error, Hashable {
  var message: String
  var suggestion: String?
  /// Whether the message does not contain the value.
  var isWithoutValue = false

  init(_ message: String, suggestion: String? = nil) { (self.message, self.suggestion) = (message, suggestion) }

  /// The same without the value, which may be a secret.
  var withoutValue: BadValue {
    if isWithoutValue { return self }
    let hidden = "a value from a file or the environment, which is not shown"
    guard let found = message.firstRange(of: ", found \"") else { return BadValue("not a valid value: \(hidden)") }
    return BadValue("\(message[..<found.lowerBound]), found \(hidden)")
  }

  init(expected: String, found: String, suggestion: String? = nil) {
    self.init("expected \(expected), found \(found.isEmpty ? "nothing" : "\"\(found)\"")", suggestion: suggestion)
  }
}

/// The format of one kind of value: a description for error messages, a reader and a writer.
struct ValueFormat<Value> {
  let expected: String
  /// All words that are accepted, if there are few.
  var words: [String] = []
  /// Reads a value from a text. The second parameter is the directory that a relative path is resolved against.
  let read: (String, String) throws(BadValue) -> Value
  let show: (Value) -> String

  /// Makes a format from a reader that returns `nil` for an invalid text.
  init(
    _ expected: String, words: [String] = [], show: @escaping (Value) -> String,
    repaired: @escaping (String) -> String? = { _ in nil }, read: @escaping (String) -> Value?
  ) {
    self.expected = expected
    self.words = words
    self.show = show
    self.read = { (text: String, _: String) throws(BadValue) -> Value in
      if let value = read(text) { return value }
      let meant = repaired(text).flatMap { $0 != text && read($0) != nil ? $0 : nil }
      throw BadValue(expected: expected, found: text, suggestion: meant ?? nearestMatch(text, among: words))
    }
  }

  init(
    _ expected: String, show: @escaping (Value) -> String, reading: @escaping (String, String) throws(BadValue) -> Value
  ) {
    (self.expected, self.show, self.read) = (expected, show, reading)
  }

  /// Makes a format that also accepts a word that stands for `nil`.
  static func optional<Wrapped>(_ format: ValueFormat<Wrapped>, word: String) -> ValueFormat<Wrapped?>
  where Value == Wrapped? {
    ValueFormat<Wrapped?>("\(word) or \(format.expected)", show: { $0.map(format.show) ?? word }) {
      (text: String, directory: String) throws(BadValue) -> Wrapped? in
      if text.lowercased() == word || (word == "none" && text.lowercased() == "off") { return nil }
      do throws(BadValue) { return try format.read(text, directory) } catch {
        let near = error.suggestion ?? nearestMatch(text, among: [word])
        var wider = BadValue(
          error.message.replacingPrefix("expected ", with: "expected \(word) or "), suggestion: near)
        wider.isWithoutValue = error.isWithoutValue
        throw wider
      }
    }
  }

  /// Makes a format that reads what `format` reads, for a key whose default cannot be written as a value; `shown` is printed for
  /// the default.
  static func defaulted<Wrapped>(_ format: ValueFormat<Wrapped>, shown: String) -> ValueFormat<Wrapped?>
  where Value == Wrapped? {
    ValueFormat<Wrapped?>(format.expected, show: { $0.map(format.show) ?? shown }) {
      (text: String, directory: String) throws(BadValue) -> Wrapped? in try format.read(text, directory)
    }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}

extension ValueFormat where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the names of an enum.
  static func choice() -> ValueFormat {
    let words = Value.allCases.map(\.rawValue)
    let list = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    return ValueFormat(list, words: words, show: \.rawValue) { Value(rawValue: $0.lowercased()) }
  }
}

extension ValueFormat where Value == Bool {
  static var boolean: ValueFormat {
    ValueFormat("on or off", words: ["on", "off", "yes", "no", "true", "false"], show: { $0 ? "on" : "off" }) {
      Quantity.boolean($0)
    }
  }
}

extension ValueFormat where Value == UInt64 {
  static func size(_ range: ClosedRange<UInt64> = 0...UInt64(Int64.max)) -> ValueFormat {
    var expected = "a size such as 64K, 10M or 5G"
    if range.upperBound < 1 << 62 {
      expected += " from \(Quantity.show(size: range.lowerBound)) to \(Quantity.show(size: range.upperBound))"
    } else if range.lowerBound > 1 {
      expected += ", at least \(Quantity.show(size: range.lowerBound))"
    }
    return ValueFormat(expected, show: Quantity.show(size:), repaired: Quantity.repairedSize) {
      Quantity.size($0).flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension ValueFormat where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> ValueFormat {
    ValueFormat("a whole number from \(range.lowerBound) to \(range.upperBound)", show: { "\($0)" }) {
      Quantity.number($0).flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  static var percentage: ValueFormat {
    ValueFormat(
      "a share such as 25%", show: { "\($0)%" },
      repaired: { text in Quantity.number(text).flatMap { $0 <= 100 ? "\(text)%" : nil } }, read: Quantity.percentage)
  }
}

extension ValueFormat where Value == Duration {
  static var time: ValueFormat { time(allowsZero: true) }
  static var positiveTime: ValueFormat { time(allowsZero: false) }

  private static func time(allowsZero: Bool) -> ValueFormat {
    ValueFormat(
      "a time with its unit such as 500ms, 30s, 15m, 24h or 7d\(allowsZero ? "" : ", not zero")",
      show: Quantity.show(time:), repaired: Quantity.repairedTime
    ) { text in Quantity.time(text).flatMap { allowsZero || $0 > .zero ? $0 : nil } }
  }
}

extension ValueFormat where Value == Rate {
  static var rate: ValueFormat {
    ValueFormat("a rate such as 1K/60s", show: Quantity.show(rate:), read: Quantity.rate)
  }
}
