import PawlConfig
import Testing

/// Surroundings whose files are the ones given.
func surroundings(_ files: [String: String], environment: [String: String] = [:], isRoot: Bool = true) -> Surroundings {
  Surroundings(
    environment: { environment[$0] },
    readFile: { path in
      files[path].map { .success(Array($0.utf8)) } ?? .failure(FileProblem(reason: "No such file or directory"))
    },
    listFiles: { pattern in
      let parts = pattern.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
      return files.keys.filter { $0.hasPrefix(parts[0]) && $0.hasSuffix(parts[1]) }.sorted(by: >)
    },
    isRoot: isRoot)
}

/// The least that is valid, to which tests add.
let smallest = """
  [upstream:app]
  url = http://127.0.0.1:9000
  [site:default]
  upstream = app

  """

/// Loads `text` as `/etc/pawl/pawl.ini`.
func load(
  _ text: String, files: [String: String] = [:], environment: [String: String] = [:], isRoot: Bool = true
) throws(InvalidConfiguration) -> Configuration {
  var all = files
  all["/etc/pawl/pawl.ini"] = text
  let world = surroundings(all, environment: environment, isRoot: isRoot)
  return try ConfigurationLoader.load(path: "/etc/pawl/pawl.ini", surroundings: world)
}

/// The lines `pawl check` would print; empty when the text is valid.
func mistakes(
  in text: String, files: [String: String] = [:], environment: [String: String] = [:]
) -> [String] {
  do throws(InvalidConfiguration) {
    return try load(text, files: files, environment: environment).warnings.map { "\($0)" }
  } catch { return error.issues.map { "\($0)" } }
}

/// The message for a value in the site section; `nil` when it is accepted.
func refusal(_ key: String, _ value: String) -> String? {
  let text = "[upstream:app]\nurl = http://a\n[site:default]\nupstream = app\n\(key) = \(value)"
  let prefix = "/etc/pawl/pawl.ini:5: [site:default] \(key): "
  return mistakes(in: text).first.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
}
