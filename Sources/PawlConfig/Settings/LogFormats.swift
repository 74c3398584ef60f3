import PawlBase

extension ValueFormat where Value == ProcessSettings.LogTarget {
  /// Where a log goes: a word, a word with a path, or a path.
  static func logTarget(canBeOff: Bool) -> ValueFormat {
    let words = ["stderr", "stdout", "syslog", "journald"] + (canBeOff ? ["off"] : [])
    let expected = words.joined(separator: ", ") + " or a path"
    return ValueFormat(expected, show: \.written) {
      (text: String, directory: String) throws(BadValue) -> ProcessSettings.LogTarget in
      switch text.lowercased() {
      case "stderr": return .standardError
      case "stdout": return .standardOutput
      case "syslog": return .syslog(path: nil)
      case "journald": return .journal(path: nil)
      case "off", "none":
        guard canBeOff else {
          throw BadValue(expected: expected, found: text, suggestion: "log-level = error")
        }
        return .off
      case "": throw BadValue(expected: expected, found: text)
      default: break
      }
      for (word, make) in Self.withPath where text.hasPrefix(word) {
        let path = text.dropFirst(word.count)
        guard !path.isEmpty else { throw BadValue(expected: "\(word)PATH", found: text) }
        return make(FilePath.resolve(String(path), from: directory))
      }
      // A word that is similar to one of the words is probably a mistake, and not a file name.
      if !text.contains("/"), !text.contains("."), let near = nearestMatch(text, among: words + ["journal"]) {
        throw BadValue(expected: expected, found: text, suggestion: near == "journal" ? "journald" : near)
      }
      return .file(path: FilePath.resolve(text, from: directory))
    }
  }

  private static var withPath: [(String, (String) -> ProcessSettings.LogTarget)] {
    [("syslog:", { .syslog(path: $0) }), ("journald:", { .journal(path: $0) })]
  }
}

extension ProcessSettings.LogTarget {
  /// The target as it is written in the configuration.
  var written: String {
    switch self {
    case .standardError: "stderr"
    case .standardOutput: "stdout"
    case .off: "off"
    case .file(let path): path
    case .syslog(let path): path.map { "syslog:\($0)" } ?? "syslog"
    case .journal(let path): path.map { "journald:\($0)" } ?? "journald"
    }
  }
}

extension ValueFormat where Value == ProcessSettings.AccessLogFormat {
  static var accessLogFormat: ValueFormat {
    let expected = "combined, json or a format with variables such as $remote_addr"
    return ValueFormat(expected, show: \.written) {
      (text: String, _: String) throws(BadValue) -> ProcessSettings.AccessLogFormat in
      switch text.lowercased() {
      case "combined": return .combined
      case "json": return .json
      default: break
      }
      guard text.contains("$") else {
        throw BadValue(expected: expected, found: text, suggestion: nearestMatch(text, among: ["combined", "json"]))
      }
      do throws(AccessFormat.Mistake) { return .custom(try AccessFormat(text)) } catch {
        switch error {
        case .unknown(let name):
          let known = AccessVariable.allCases.map(\.rawValue)
          throw BadValue(
            "pawl has no variable $\(name)", suggestion: nearestMatch(name, among: known).map { "$\($0)" })
        case .secret(let name): throw BadValue("$\(name) holds a secret, which pawl writes to no log")
        case .malformed(let part): throw BadValue(expected: expected, found: part)
        }
      }
    }
  }
}

extension ProcessSettings.AccessLogFormat {
  /// The format as it is written in the configuration.
  var written: String {
    switch self {
    case .combined: "combined"
    case .json: "json"
    case .custom(let format): format.source
    }
  }
}

extension ValueFormat where Value == Int {
  /// A share of one in so many: `1/100`.
  static var sample: ValueFormat {
    let range = 1...1_000_000
    return ValueFormat(
      "a share such as 1/100, or 1 for all", show: { $0 == 1 ? "1" : "1/\($0)" },
      repaired: { text in Quantity.number(text).flatMap { $0 > 1 ? "1/\(text)" : nil } }
    ) { text in
      if text == "1" { return 1 }
      guard text.hasPrefix("1/") else { return nil }
      return Quantity.number(String(text.dropFirst(2))).flatMap { Int(exactly: $0) }.flatMap {
        range.contains($0) ? $0 : nil
      }
    }
  }
}
