import PawlConfig

/// The keys that pawl reads only when it starts, or when it makes a listener; and how a reload finds that one of them has changed.
struct RestartKeys {
  /// The keys, by kind of section. There are few: everything else takes effect by a reload.
  static let all: [String: Set<String>] = [
    // The number of event loops, and what can only be done by root, before pawl is another user.
    "pawl": ["workers", "user", "group"],
    // The permissions that a unix socket is made with.
    "listen": ["unix-mode"],
  ]

  /// The texts that are in force, by section and key: of the start, or of the reload that added the section.
  private var inForce: [String: [String: [String]]] = [:]

  /// - Parameter started: the configuration with which the server was started.
  init(_ started: Configuration) { for section in started.effective { add(section) } }

  /// Takes note of a configuration that a reload has put into use.
  /// - Returns: a line for each change that takes effect only after a restart.
  mutating func changed(to new: Configuration) -> [String] {
    // A section that comes back is a new one.
    let labels = Set(new.effective.map(\.label))
    inForce = inForce.filter { labels.contains($0.key) }
    var lines: [String] = []
    for section in new.effective {
      guard let before = inForce[section.label] else {
        add(section)
        continue
      }
      for key in before.keys.sorted() where Self.texts(key, section) != before[key] {
        lines.append(Self.line(for: section.label, key, in: new))
      }
    }
    return lines
  }

  private mutating func add(_ section: EffectiveSection) {
    guard let keys = Self.all[String(section.label.prefix { $0 != ":" })] else { return }
    inForce[section.label] = Dictionary(uniqueKeysWithValues: keys.map { ($0, Self.texts($0, section)) })
  }

  private static func line(for label: String, _ key: String, in configuration: Configuration) -> String {
    let place = configuration.place(of: key, in: label)
    return Issue(at: place, section: label, key: key, "the change takes effect after a restart").description
  }

  private static func texts(_ key: String, _ section: EffectiveSection) -> [String] {
    section.values.filter { $0.key == key }.map(\.text)
  }
}
