/// The value of `Strict-Transport-Security` (RFC 6797 §6.1).
package struct StrictTransport: Hashable, Sendable {
  package var maxAge: Duration
  package var includesSubdomains = false
  package var preload = false

  package init(maxAge: Duration) { self.maxAge = maxAge }

  /// The field value.
  package var field: String {
    "max-age=\(maxAge.components.seconds)" + (includesSubdomains ? "; includeSubDomains" : "")
      + (preload ? "; preload" : "")
  }
}

extension ValueFormat where Value == StrictTransport {
  /// The format of the key `hsts`, such as `365d`, `365d include-subdomains` or `365d include-subdomains preload`.
  static var strictTransport: ValueFormat {
    ValueFormat("a time such as 365d, perhaps with include-subdomains and preload behind it", show: show) { text in
      let words = text.split(separator: " ").map { $0.lowercased() }
      guard let time = words.first.flatMap(Quantity.time), time.components.attoseconds == 0 else { return nil }
      let rest = words.dropFirst()
      guard rest.allSatisfy({ $0 == "include-subdomains" || $0 == "preload" }) else { return nil }
      var value = StrictTransport(maxAge: time)
      value.includesSubdomains = rest.contains("include-subdomains")
      value.preload = rest.contains("preload")
      return value
    }
  }

  private static func show(_ value: StrictTransport) -> String {
    Quantity.show(time: value.maxAge) + (value.includesSubdomains ? " include-subdomains" : "")
      + (value.preload ? " preload" : "")
  }
}
