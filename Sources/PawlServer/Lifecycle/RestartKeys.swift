import PawlCertificates
import PawlConfig

/// The keys that pawl reads only when it starts, and how a reload finds that one of them has changed.
enum RestartKeys {
  /// Returns a line for each change that takes effect only after a restart.
  /// - Parameter running: the configuration with which the server was started.
  static func changed(from running: Configuration, to new: Configuration) -> [String] {
    let process = changed("pawl", from: running, to: new, except: ["state-dir"])
    let listeners = new.listeners.filter { listener in
      !running.listeners.contains { $0.untilRestart == listener.untilRestart }
    }
    let isOneGone = running.listeners.contains { old in !new.listeners.contains { $0.name == old.name } }
    return process + listeners.map { line(for: "listen:\($0.name)", in: new) }
      + (listeners.isEmpty && isOneGone ? ["[listen]: the change takes effect after a restart"] : [])
  }

  private static func changed(
    _ label: String, from running: Configuration, to new: Configuration, except: Set<String>
  ) -> [String] {
    let (before, after) = (values(label, running), values(label, new))
    return after.filter { value in
      !except.contains(value.key) && before.first { $0.key == value.key }?.texts != value.texts
    }.map { line(for: label, $0.key, in: new) }
  }

  /// Returns the line that says that a change of a section, or of one of its keys, takes effect after a restart.
  static func line(for label: String, _ key: String? = nil, in configuration: Configuration) -> String {
    let place = configuration.place(of: key ?? "", in: label)
    return Issue(at: place, section: label, key: key, "the change takes effect after a restart").description
  }

  private static func values(_ label: String, _ configuration: Configuration) -> [(key: String, texts: [String])] {
    let values = configuration.effective.first { $0.label == label }?.values ?? []
    var keys = [String]()
    for value in values where !keys.contains(value.key) { keys.append(value.key) }
    return keys.map { key in (key, values.filter { $0.key == key }.map(\.text)) }
  }
}
