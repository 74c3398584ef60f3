import PawlConfig
import Testing

/// `Config/README.md` is true to the keys.
@Suite("The reference of keys") struct ReferenceTests {
  private static func lines() throws -> [String] {
    let bytes = try ExampleFilesTests.contents("\(ExampleFilesTests.folder)/README.md").get()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
  }

  /// Names in backticks in the first cell of a table's rows, below the headings that `isWanted`.
  private static func keys(below isWanted: (String) -> Bool) throws -> Set<String> {
    var isInside = false
    var keys: Set<String> = []
    for line in try lines() {
      if line.hasPrefix("## ") { isInside = isWanted(line) }
      guard isInside, line.hasPrefix("| `") else { continue }
      let cell = line.dropFirst(2).prefix { $0 != "|" }.split(separator: "`", omittingEmptySubsequences: false)
      keys.formUnion(cell.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) })
    }
    return keys
  }

  @Test(
    "names each key of a section, and no other",
    arguments: ["pawl", "listen", "tls", "cache", "spool", "upstream", "site", "route", "admin"])
  func complete(_ type: String) throws {
    let text = smallest + "[tls:web]\ncertificate = c.pem\nkey = /k.pem\n[route:default/a]\npath = /a*"
    let section = try #require(try load(text).effective.first { $0.label == type || $0.label.hasPrefix(type + ":") })
    let isOfPaths = type == "site" || type == "route"
    let named = try Self.keys { heading in
      heading.hasPrefix("## `[\(type)") || isOfPaths && heading == "## Keys of a site or a route"
    }
    // A route has the keys of its site; those are in one table.
    let known = Set(section.values.map(\.key))
    #expect(
      known.subtracting(named).subtracting(
        type == "route" ? ["upstream", "cache", "uploads", "spool", "upload-prefix"] : []) == [])
    #expect(named.subtracting(known).subtracting(["every site key but"]) == [])
  }

  /// The examples, each with the line it begins on.
  private static func examples() throws -> [(line: Int, text: String)] {
    var found = [(line: Int, text: String)]()
    var open: (line: Int, text: String)?
    for (index, line) in try lines().enumerated() {
      if line == "```ini" {
        open = (index + 2, "")
      } else if line == "```" {
        if let example = open { found.append(example) }
        open = nil
      } else if let example = open {
        open = (example.line, example.text + line + "\n")
      }
    }
    return found
  }

  /// With the sections that it refers to, and an upstream and a site where it has none.
  private func completed(_ text: String) -> String {
    var all = text
    func add(_ label: String, _ body: String) {
      if !all.contains("[\(label)]") { all += "[\(label)]\n\(body)\n" }
    }
    for line in text.split(separator: "\n") {
      if line.hasPrefix("[route:") { add("site:" + line.dropFirst(7).prefix { $0 != "/" }, "upstream = app") }
      if line.hasPrefix("tls = ") { add("tls:" + line.dropFirst(6), "certificate = c.pem\nkey = k.pem") }
      if line.hasPrefix("cache = ") { add("cache:" + line.dropFirst(8), "path = /srv/x") }
    }
    add("upstream:app", "url = http://127.0.0.1:9000")
    if !all.contains("[site:") { all += "[site:default]\nupstream = app\n" }
    return all
  }

  @Test("has examples that are valid")
  func examples() throws {
    let examples = try Self.examples()
    #expect(examples.count > 10)
    for example in examples {
      let found = mistakes(in: completed(example.text)).filter { !$0.hasSuffix("uses this section (warning)") }
      #expect(found == [], "Config/README.md:\(example.line)")
    }
  }
}
