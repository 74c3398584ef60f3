import PawlConfig

/// Why a reload is refused, as lines of a ``ReloadOutcome``.
enum ReloadRefusal {
  /// Returns a line for each change that cannot be made while the server runs, because uploads would be stranded. Empty: the reload
  /// may go on.
  ///
  /// Removed spools and spools with another path need no refusal: they stay open as long as they hold uploads, and `state-dir` has a
  /// list of them for the next start (``UploadSpools``). With another `state-dir`, this list would be elsewhere.
  static func lines(from running: Configuration, to new: Configuration) -> [String] {
    let (old, wanted) = (running.process.stateDirectory, new.process.stateDirectory)
    guard old != wanted else { return [] }
    let why =
      "it cannot be changed while pawl runs, because the uploads in \(old) would be lost; stop pawl, move the directory, "
      + "start pawl again"
    let place = new.place(of: "state-dir", in: "pawl")
    return [Issue(at: place, section: "pawl", key: "state-dir", why).description]
  }

  /// Returns the path in a destination of a log such as `syslog:/dev/log`.
  private static func path(of destination: String) -> Substring { destination.drop { $0 != "/" } }

  /// Returns the line of an error, with the place of the value that it is about.
  static func line(for error: ServerError, in configuration: Configuration) -> String {
    configuration.hidingSecrets(placed(error, in: configuration))
  }

  private static func placed(_ error: ServerError, in configuration: Configuration) -> String {
    func line(_ label: String, _ key: String, _ value: String) -> String {
      let place = configuration.place(of: key, value, in: label)
      return Issue(at: place, section: label, key: key, error.description).description
    }
    switch error {
    case .address(let address, _):
      let listener = configuration.listeners.first { $0.addresses.contains { $0.description == address } }
      return listener.map { line("listen:\($0.name)", "address", address) } ?? error.description
    case .storage(let path, _):
      if let cache = configuration.caches.first(where: { $0.path == path }) {
        return line("cache:\(cache.name)", "path", path)
      }
      let spool = configuration.spools.first { $0.path == path }
      return spool.map { line("spool:\($0.name)", "path", path) } ?? error.description
    case .certificates(_, let file?):
      for section in configuration.effective
      where section.label.hasPrefix("tls:") || section.label.hasPrefix("upstream:") {
        if let value = section.values.first(where: { $0.text == file }) { return line(section.label, value.key, file) }
      }
      return error.description
    case .log(let why):
      let values = configuration.effective.first { $0.label == "pawl" }?.values ?? []
      let value = values.first {
        ["log", "access-log"].contains($0.key) && $0.text.contains("/") && why.contains(path(of: $0.text))
      }
      return value.map { line("pawl", $0.key, $0.text) } ?? why
    case .certificates, .account, .system: return error.description
    }
  }
}
