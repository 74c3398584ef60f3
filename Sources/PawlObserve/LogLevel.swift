/// The importance of an event; `log-level` in the configuration.
package enum LogLevel: UInt8, CaseIterable, Comparable, Sendable {
  case debug, info, notice, warning, error

  /// Makes the level that `word` names; fails if the word names none of the five.
  package init?(_ word: String) {
    guard let level = Self.allCases.first(where: { $0.word.description == word }) else { return nil }
    self = level
  }

  package var word: StaticString {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .notice: "notice"
    case .warning: "warning"
    case .error: "error"
    }
  }

  package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}
