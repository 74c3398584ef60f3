import Testing

/// What documents refer to is there.
@Suite("Documents") struct DocumentTests {
  /// All of the repository, with their lines.
  private static let documents: [(path: String, lines: [String])] = {
    let below = ["Sources", "Tests", "Config", "Deploy", ".github"].flatMap(paths)
    return (["README.md"] + below.filter { $0.hasSuffix(".md") }).map { ($0, SourceTree.lines(of: $0)) }
  }()

  private static func paths(in folder: String) -> [String] {
    SourceTree.names(in: folder).flatMap { name in
      name.hasSuffix("/") ? paths(in: "\(folder)/\(name.dropLast())") : ["\(folder)/\(name)"]
    }
  }

  private static let files = Set(
    ["README.md", "Package.swift", "LICENSE"]
      + ["Sources", "Tests", "Config", "Deploy", ".github", ".ci"].flatMap(paths))

  private static func isThere(_ path: String) -> Bool {
    files.contains(path) || files.contains { $0.hasPrefix(path.hasSuffix("/") ? path : path + "/") }
  }

  /// `path`, as it is meant by a document in that folder.
  private static func resolved(_ path: Substring, from document: String) -> String {
    var parts = document.split(separator: "/").dropLast().map(String.init)
    for part in path.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
    }
    return parts.joined(separator: "/")
  }

  /// The name by which a heading is linked to.
  private static func anchor(_ heading: Substring) -> String {
    String(
      heading.lowercased().compactMap { character in
        character.isLetter || character.isNumber || character == "-" || character == "_"
          ? character : character == " " ? "-" : nil
      })
  }

  private static func anchors(of path: String) -> Set<String> {
    Set(
      SourceTree.lines(of: path).filter { $0.hasPrefix("#") }.map { line in
        anchor(line.drop { $0 == "#" }.drop { $0 == " " })
      })
  }

  /// Targets of links in a line.
  private static func links(_ line: String) -> [Substring] {
    line.split(separator: "](", omittingEmptySubsequences: false).dropFirst().map { rest in rest.prefix { $0 != ")" } }
  }

  @Test("links lead to a file, and to a heading of it")
  func links() {
    var wrong = [String]()
    for (path, lines) in Self.documents {
      for (number, line) in lines.enumerated() {
        for link in Self.links(line) where !link.contains("://") && !link.hasPrefix("mailto:") {
          let file = link.prefix { $0 != "#" }
          let target = file.isEmpty ? path : Self.resolved(file, from: path)
          let heading = link.dropFirst(file.count + 1)
          let isRight = Self.isThere(target) && (heading.isEmpty || Self.anchors(of: target).contains(String(heading)))
          if !isRight { wrong.append("\(path):\(number + 1): \(link)") }
        }
      }
    }
    #expect(wrong == [])
  }

  @Test("paths that begin at the top of the repository are there")
  func paths() {
    var wrong = [String]()
    for (path, lines) in Self.documents {
      for (number, line) in lines.enumerated() {
        let quoted = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
          .filter { $0.offset % 2 == 1 }.map(\.element)
        for text in quoted
        where ["Sources/", "Tests/", "Config/", "Deploy/", ".github/", ".ci/"].contains(where: text.hasPrefix) {
          let word = text.prefix { $0 != " " && $0 != "*" && $0 != "<" }
          if !Self.isThere(String(word)) { wrong.append("\(path):\(number + 1): \(text)") }
        }
      }
    }
    #expect(wrong == [])
  }

  @Test("symbols of DocC pages are declared")
  func symbols() {
    let declared = Set(
      SourceTree.sources.flatMap { source in
        source.lines.flatMap { line -> [String] in
          let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
          return zip(words, words.dropFirst()).filter {
            ["struct", "class", "enum", "protocol", "actor", "func", "typealias", "extension", "macro"].contains($0.0)
          }.map { String($0.1.split(separator: ".").last ?? "") }
        }
      })
    let targets = Set(SourceTree.names(in: "Sources").map { String($0.prefix { $0 != "/" }) })
    var wrong = [String]()
    for (path, lines) in Self.documents where path.contains(".docc/") {
      for (number, line) in lines.enumerated() where !line.hasPrefix("```") {
        let parts = line.split(separator: "``", omittingEmptySubsequences: false).enumerated()
          .filter { $0.offset % 2 == 1 }.map(\.element)
        for symbol in parts {
          let name = String(symbol.prefix { $0 != "/" && $0 != "(" })
          if !declared.contains(name), !targets.contains(name) { wrong.append("\(path):\(number + 1): \(symbol)") }
        }
      }
    }
    #expect(wrong == [])
  }
}
