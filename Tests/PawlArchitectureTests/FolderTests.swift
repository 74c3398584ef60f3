import Testing

/// Rooms: what lives in a folder refers only to folders it may know, so that no two of them can only be understood together.
@Suite("Folders") struct FolderTests {
  /// For each target, the folders that are decided, and which other folders of the target each may refer to.
  static let allowed: [String: [String: Set<String>]] = [
    "PawlWire": ["Common": [], "HTTP1": ["Common"], "HTTP2": ["Common", "HTTP1"], "PROXY": ["Common"]],
    "PawlStore": ["Disk": [], "Cache": ["Disk"], "Uploads": ["Disk"]],
    "PawlServer": [
      "Buffers": [], "Routing": ["Buffers"], "Services": ["Buffers", "Routing"],
      "Exchange": ["Buffers", "Routing", "Services"], "Identity": requests, "Origin": requests.union(["Identity"]),
      "Relay": exchanges, "Downloads": exchanges.union(["Relay"]), "Uploads": exchanges.union(["Relay"]),
      "Connections": exchanges.union(["Relay", "Downloads", "Uploads"]),
    ],
  ]
  /// What stands below all that is about one request.
  private static let requests: Set<String> = ["Buffers", "Routing", "Services", "Exchange"]
  /// What stands below all that answers one.
  private static let exchanges = requests.union(["Identity", "Origin"])
  /// Swift files of one folder, those of folders in it not counted.
  static let limit = 30

  @Test("refer only to those they may know", arguments: allowed.keys.sorted())
  func directions(_ target: String) throws {
    let files = SourceTree.sources.filter { $0.target == target }
    let rules = try #require(Self.allowed[target])
    var homes: [String: Set<String>] = [:]
    for file in files { for type in types(in: file) { homes[type, default: []].insert(room(of: file)) } }
    #expect(Set(files.map(room)).isSuperset(of: rules.keys))
    for file in files {
      guard let known = rules[room(of: file)] else { continue }
      for word in words(in: file) {
        // A name that several rooms have for themselves says nothing.
        guard let home = homes[word], home.count == 1, let other = home.first, other != room(of: file) else { continue }
        #expect(known.contains(other), "\(file) refers to \(word) in \(other)")
      }
    }
  }

  @Test("have no more files than a newcomer takes in at a glance")
  func sizes() {
    let folders = Dictionary(grouping: SourceTree.sources, by: folder)
    for (folder, files) in folders { #expect(files.count <= Self.limit, "\(folder): \(files.count)") }
  }

  /// The first folder below the target.
  private func room(of file: SourceFile) -> String {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : ""
  }

  private func folder(of file: SourceFile) -> String {
    file.path.split(separator: "/").dropLast().joined(separator: "/")
  }

  /// Names that the file declares for others.
  func types(in file: SourceFile) -> [String] {
    let kinds: Set<Substring> = ["class", "struct", "enum", "protocol", "typealias"]
    var (names, depth) = ([String](), 0)
    for line in file.bare.lines {
      let words = line.split { " :<{(=".contains($0) }
      if depth == 0, !words.contains("private"), !words.contains("fileprivate"),
        let keyword = words.firstIndex(where: kinds.contains), keyword + 1 < words.count
      {
        names.append(String(words[keyword + 1]))
      }
      depth += line.count { $0 == "{" } - line.count { $0 == "}" }
    }
    return names
  }

  func words(in file: SourceFile) -> Set<String> {
    var found: Set<String> = []
    for line in file.bare.lines {
      for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
        if word.first?.isUppercase == true { found.insert(String(word)) }
      }
    }
    return found
  }
}
