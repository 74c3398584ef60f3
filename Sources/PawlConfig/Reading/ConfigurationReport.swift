package import PawlBase

/// The texts that `pawl check` and `pawl config` print.
package enum ConfigurationReport {
  /// Lists every issue on a line of its own, then the number of issues.
  /// - Parameter unusable: the verdict instead of "NOT valid", if the configuration is valid and something else is not.
  package static func issues(_ issues: [Issue], unusable: String? = nil) -> String {
    let errors = issues.count { $0.severity == .error }
    let warnings = issues.count - errors
    var summary = counted(errors, "error")
    if warnings > 0 { summary += ", " + counted(warnings, "warning") }
    let verdict = errors > 0 ? unusable ?? "configuration NOT valid" : "configuration valid"
    return issues.map { "\($0)\n" }.joined() + "pawl: \(summary); \(verdict)\n"
  }

  /// Returns one line that says what a valid configuration contains.
  package static func contents(of configuration: Configuration) -> String {
    let routes = configuration.sites.reduce(0) { $0 + $1.routes.count }
    let addresses = configuration.listeners.flatMap { listener in
      listener.addresses.map { listener.tls.isEmpty ? "\($0)" : "\($0) (TLS)" }
    }.joined(separator: ", ")
    return counted(configuration.sites.count, "site") + ", " + counted(routes, "route") + ", "
      + counted(configuration.upstreams.count, "upstream") + ", " + counted(configuration.caches.count, "cache")
      + "; listens on \(addresses)"
  }

  /// Lists the configuration in effect: each `key = value`, and where the value was set (file and line, command line, or
  /// default).
  package static func effective(_ configuration: Configuration) -> String {
    configuration.effective.map(section).joined(separator: "\n")
  }

  /// Returns the configuration in effect as one JSON object.
  package static func json(_ configuration: Configuration) -> String {
    var json = JSONWriter()
    json.object { write(configuration, to: &$0) }
    return json.text
  }

  /// Writes the member `sections`, without secrets.
  package static func write(_ configuration: Configuration, to json: inout JSONWriter) {
    json.member(
      "sections",
      array: { array in
        for section in configuration.effective { write(section, to: &array) }
      })
  }

  private static func write(_ section: EffectiveSection, to array: inout JSONWriter) {
    array.object { json in
      json.member("section", section.label)
      json.member(
        "values",
        array: { array in
          for value in section.values {
            array.object {
              $0.member("key", value.key)
              $0.member("value", value.shown)
              $0.member("origin", "\(value.origin)")
            }
          }
        })
    }
  }

  private static func section(_ section: EffectiveSection) -> String {
    let lines = section.values.map { "\($0.key) = \($0.shown)" }
    let width = min(48, lines.map(\.count).max() ?? 0)
    var text = "[\(section.label)]\n"
    for (line, value) in zip(lines, section.values) {
      text += line + String(repeating: " ", count: max(0, width - line.count)) + "  # \(value.origin)\n"
    }
    return text
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
