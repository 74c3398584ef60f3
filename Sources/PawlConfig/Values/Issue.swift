/// The place where a value was set, or where a mistake is: the program itself, a line of a file, or the command line.
package enum ValueOrigin: Hashable, Sendable, CustomStringConvertible {
  case builtIn
  case file(path: String, line: Int)
  case commandLine

  package var description: String {
    switch self {
    case .builtIn: "built-in default"
    case .file(let path, let line): line > 0 ? "\(path):\(line)" : path
    case .commandLine: "command line"
    }
  }
}

/// An error or a warning in a configuration.
package struct Issue: Hashable, Sendable, CustomStringConvertible {
  package enum Severity: Hashable, Sendable { case error, warning }

  package var severity: Severity
  package var origin: ValueOrigin
  /// The section's label without brackets, such as `site:files`.
  package var section: String?
  package var key: String?
  /// What is wrong, and what is expected. Passwords of URLs are left out.
  package var message: String
  /// The most similar name or value that is valid.
  package var suggestion: String?

  package init(
    _ severity: Severity = .error, at origin: ValueOrigin, section: String? = nil, key: String? = nil,
    _ message: String, suggestion: String? = nil
  ) {
    (self.severity, self.origin, self.section) = (severity, origin, section)
    (self.key, self.message) = (key, Redaction.withoutPasswords(message))
    self.suggestion = suggestion.map(Redaction.withoutPasswords)
  }

  /// `FILE:LINE: [section] key: message - did you mean "x"?`
  package var description: String {
    var text = "\(origin): "
    if let section { text += "[\(section)] " }
    if let key { text += "\(key): " }
    text += message
    if let suggestion { text += " - did you mean \"\(suggestion)\"?" }
    if severity == .warning { text += " (warning)" }
    return text
  }
}

/// A configuration that cannot be used, with all mistakes and warnings in the order of the files.
package struct InvalidConfiguration: Error, Hashable, Sendable {
  package var issues: [Issue]

  package init(issues: [Issue]) { self.issues = issues }
}
