import PawlConfig

/// The keys that pawl reads only when it starts, and how a reload finds that one of them has changed.
enum RestartKeys {
  /// The keys, by kind of section. There are few: everything else takes effect by a reload.
  static let all: [String: Set<String>] = [
    // The number of event loops, and what can only be done by root, before pawl is another user.
    "pawl": ["workers", "user", "group"],
    // The permissions that a unix socket is made with.
    "listen": ["unix-mode"],
  ]

  /// Returns a line for each change that takes effect only after a restart.
  /// - Parameter started: the configuration with which the server was started.
  static func changed(from started: Configuration, to new: Configuration) -> [String] {
    new.effective.flatMap { section -> [String] in
      let kind = section.label.prefix { $0 != ":" }
      guard let keys = all[String(kind)] else { return [] }
      // A section that is new is used as it is.
      guard let before = started.effective.first(where: { $0.label == section.label }) else { return [] }
      return keys.sorted().filter { texts($0, section) != texts($0, before) }.map {
        line(for: section.label, $0, in: new)
      }
    }
  }

  private static func line(for label: String, _ key: String, in configuration: Configuration) -> String {
    let place = configuration.place(of: key, in: label)
    return Issue(at: place, section: label, key: key, "the change takes effect after a restart").description
  }

  private static func texts(_ key: String, _ section: EffectiveSection) -> [String] {
    section.values.filter { $0.key == key }.map(\.text)
  }
}
