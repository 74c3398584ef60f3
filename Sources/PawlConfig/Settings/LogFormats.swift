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
        try refuseSecondWord(text, formatKey: canBeOff)
        return make(FilePath.resolve(String(path), from: directory))
      }
      // A word that is similar to one of the words is probably a mistake, and not a file name.
      if !text.contains("/"), !text.contains("."), let near = nearestMatch(text, among: words + ["journal"]) {
        throw BadValue(expected: expected, found: text, suggestion: near == "journal" ? "journald" : near)
      }
      try refuseSecondWord(text, formatKey: canBeOff)
      return .file(path: FilePath.resolve(text, from: directory))
    }
  }

  /// Refuses what other programs write behind the file of a log: `access_log PATH FORMAT`, `error_log PATH LEVEL`. Such a file name
  /// with a blank would be made, and nobody would look there.
  private static func refuseSecondWord(_ text: String, formatKey: Bool) throws(BadValue) {
    let slash = text.lastIndex(of: "/") ?? text.startIndex
    // A format may have slashes, but no path begins with a variable.
    let variable = text.firstIndex(of: "$") ?? text.endIndex
    let name = slash < variable ? text[slash...] : text[...]
    guard let blank = name.firstIndex(where: { $0 == " " || $0 == "\t" }) else { return }
    let second = String(text[blank...].drop { $0 == " " || $0 == "\t" })
    let (key, what) = formatKey ? ("access-log-format", "format") : ("log-level", "level")
    let value = formatKey ? (second == "main" ? "combined" : second) : ProcessSettings.LogLevel.others[second] ?? second
    throw BadValue(
      "expected a path without blanks in the file name, found \"\(text)\"; the \(what) has a key of its own",
      suggestion: "\(key) = \(value)")
  }

  private static var withPath: [(String, (String) -> ProcessSettings.LogTarget)] {
    [("syslog:", { .syslog(path: $0) }), ("journald:", { .journal(path: $0) })]
  }
}

extension ProcessSettings.LogLevel {
  /// The words of syslog and of other programs, with pawl's.
  static let others = [
    "warn": "warning", "err": "error", "crit": "error", "critical": "error", "alert": "error", "emerg": "error",
    "fatal": "error", "trace": "debug", "information": "info",
  ]
}

extension ValueFormat where Value == ProcessSettings.LogLevel {
  /// A level. The words of other programs are answered with pawl's.
  static var logLevel: ValueFormat {
    let plain = ValueFormat.choice()
    return ValueFormat(
      plain.expected, words: plain.words, show: \.rawValue,
      repaired: { ProcessSettings.LogLevel.others[$0.lowercased()] },
      read: { ProcessSettings.LogLevel(rawValue: $0.lowercased()) })
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
