/// Makes a ``Configuration`` from a file, or from the command line alone.
package enum ConfigurationLoader {
  /// Reads `path` and the files that it includes.
  ///
  /// - Throws: all mistakes together, in the order of the files, if there is at least one error.
  package static func load(path: String, surroundings: Surroundings) throws(InvalidConfiguration) -> Configuration {
    var collector = SectionCollector(surroundings)
    collector.collect(path)
    let origin = ValueOrigin.file(path: collector.files.first ?? path, line: 0)
    var assembly = ConfigurationAssembly(surroundings, origin: origin, issues: collector.issues)
    // If the file cannot be read, only that is reported. Otherwise all required sections would be reported as missing, too.
    // The same holds for a file of another program.
    if collector.files.isEmpty || collector.isForeign { throw InvalidConfiguration(issues: collector.issues) }
    return try assembly.assemble(collector.sections, files: collector.files)
  }

  /// Reads where the admin interface of a file's server listens. Mistakes in other sections do not count: the server may run with
  /// the former content of the file.
  /// - Throws: only if the file cannot be read.
  package static func admin(path: String, surroundings: Surroundings) throws(InvalidConfiguration) -> AdminSettings {
    var collector = SectionCollector(surroundings)
    collector.collect(path)
    if collector.files.isEmpty { throw InvalidConfiguration(issues: collector.issues) }
    var assembly = ConfigurationAssembly(surroundings, origin: .file(path: path, line: 0), issues: [])
    return assembly.adminSettings(collector.sections)
  }

  /// Makes a configuration without a file: one upstream and one site, with uploads and cache (`pawl serve --to`).
  ///
  /// - Parameters:
  ///   - url: the URL of the application.
  ///   - listen: the addresses to listen on; empty: the default address.
  ///   - stateDirectory: the state directory; `nil`: the default directory.
  package static func forwarding(
    to url: String, listen: [String] = [], stateDirectory: String? = nil, surroundings: Surroundings
  ) throws(InvalidConfiguration) -> Configuration {
    var sections = [Section]()
    func add(_ label: String, _ key: String, _ values: [String]) throws(BadValue) {
      let entries = values.map { Entry(key: key, value: $0, origin: .commandLine, directory: "") }
      sections.append(Section(label: try SectionLabel(label), origin: .commandLine, entries: entries))
    }
    do throws(BadValue) {
      if let stateDirectory { try add("pawl", "state-dir", [stateDirectory]) }
      if !listen.isEmpty { try add("listen:default", "address", listen) }
      try add("upstream:default", "url", [url])
      try add("site:default", "upstream", ["default"])
    } catch { throw InvalidConfiguration(issues: [Issue(at: .commandLine, error.message)]) }
    var assembly = ConfigurationAssembly(surroundings, origin: .commandLine, issues: [])
    do throws(InvalidConfiguration) { return try assembly.assemble(sections, files: []) } catch {
      throw InvalidConfiguration(issues: error.issues.map(namingOption))
    }
  }

  /// Returns the issue with the name of a command line option instead of a section and key, because the user wrote only the
  /// option.
  private static func namingOption(_ issue: Issue) -> Issue {
    let options = ["url": "--to", "address": "--listen", "state-dir": "--state"]
    guard issue.origin == .commandLine, let key = issue.key, let option = options[key] else { return issue }
    var renamed = issue
    (renamed.section, renamed.key) = (nil, option)
    return renamed
  }
}
