import Testing

/// Rooms: what lives in a folder refers only to folders it may know, so that no two of them can only be understood together.
@Suite("Folders") struct FolderTests {
  /// For each folder of `Sources` whose rooms are decided, which others of them each may refer to. `""` is the folder's own files.
  static let allowed: [String: [String: Set<String>]] = [
    "PawlCache": ["Storing": [], "Resuming": ["Storing"], "Serving": ["Storing", "Resuming"]],
    "PawlConfig": [
      "Values": [], "Foreign": [], "Settings": ["Values", "Foreign"], "Reading": ["Values", "Foreign", "Settings"],
    ],
    "PawlHTTP": [
      "Bytes": [], "Messages": ["Bytes"], "Ranges": messages, "Conditions": messages, "Caching": messages,
      "Proxies": messages,
    ],
    "PawlLoop": ["System": [], "Loop": ["System"], "Sockets": ["System", "Loop"]],
    "PawlObserve": ["": [], "Metrics": [""]],
    "PawlTLS": ["Common": [], "Certificates": ["Common"], "Engine": ["Common", "Certificates"]],
    "PawlUpstream": ["Places": [], "Nodes": [], "Exchanges": ["Places", "Nodes"]],
    "PawlUploadStore": ["Catalogue": [], "Uploads": ["Catalogue"], "Spool": ["Catalogue", "Uploads"]],
    "PawlUpload": [
      "Fields": [], "Uploads": ["Fields"], "Delivery": ["Fields", "Uploads"],
      "IETF": ["Fields", "Uploads", "Delivery"], "Tus": ["Fields", "Uploads", "Delivery", "IETF"],
      "Dialects": ["Fields", "Uploads", "Delivery", "IETF", "Tus"],
    ],
    "PawlWire": ["Common": [], "HTTP1": ["Common"], "HTTP2": ["Common", "HTTP1"], "PROXY": ["Common"]],
    "PawlBench": [
      "Common": [], "Process": ["Common"], "Client": ["Common"], "Scenarios": ["Common", "Client"],
      "Load": ["Common", "Client", "Scenarios"], "Report": ["Common"],
    ],
    "PawlCacheStore": [
      "Files": [], "Segments": [], "Catalogue": ["Segments"], "Packs": ["Files", "Segments", "Catalogue"],
      "Places": ["Files", "Segments", "Catalogue", "Packs"],
      "Bodies": ["Files", "Segments", "Catalogue", "Packs", "Places"],
      "Index": ["Files", "Segments", "Catalogue", "Packs", "Places", "Bodies"],
    ],
    "PawlServer": [
      "Buffers": [], "Routing": ["Buffers"], "Services": ["Buffers", "Routing"],
      "Exchange": ["Buffers", "Routing", "Services"], "Identity": requests, "Origin": requests.union(["Identity"]),
      "Relay": exchanges, "Downloads": exchanges.union(["Relay"]), "Uploads": exchanges.union(["Relay"]),
      "Connections": answers, "Transfers": answers.union(["Connections"]),
      "Admin": answers.union(["Connections", "Transfers"]), "Trials": [],
      "Lifecycle": answers.union(["Connections", "Transfers", "Admin", "Trials"]),
    ],
    "PawlServer/Connections": ["": [], "HTTP1": [""], "HTTP2": [""]],
    "PawlServer/Exchange": ["Bodies": [], "": ["Bodies"]],
    "PawlServer/Lifecycle": ["Parts": [], "": ["Parts"]],
    "PawlServer/Downloads": [
      "Fetches": [], "Fills": ["Fetches"], "Collapsing": ["Fetches", "Fills"],
      "Answers": ["Fetches", "Fills", "Collapsing"],
    ],
    "PawlServer/Uploads": ["Delivering": [], "Receiving": ["Delivering"]],
  ]
  /// What stands below all that is about some fields.
  private static let messages: Set<String> = ["Bytes", "Messages"]
  /// What stands below all that is about one request.
  private static let requests: Set<String> = ["Buffers", "Routing", "Services", "Exchange"]
  /// What stands below all that answers one.
  private static let exchanges = requests.union(["Identity", "Origin"])
  /// What stands below all that a client speaks to.
  private static let answers = exchanges.union(["Relay", "Downloads", "Uploads"])
  /// Files that refer to what they may not know, and why.
  private static let excepted: Set<String> = [
    // It owns the queue of what waits for a deadline, by its type: a queue of anything costs a call through a witness table each time.
    "Sources/PawlServer/Connections/LoopConnections.swift",
    // What is stored is kept with the answer that is decided for it, by what decides it for each who asks.
    "Sources/PawlServer/Downloads/Collapsing/CollapsedFetch+Storing.swift",
  ]
  /// Swift files of one folder, those of folders in it not counted.
  static let limit = 25

  @Test("refer only to those they may know", arguments: allowed.keys.sorted())
  func directions(_ folder: String) throws {
    let files = SourceTree.sources.filter { $0.path.hasPrefix("Sources/\(folder)/") }
    let rules = try #require(Self.allowed[folder])
    #expect(Set(files.map { room(of: $0, in: folder) }) == Set(rules.keys))
    var homes: [String: Set<String>] = [:]
    for file in files { for type in types(in: file) { homes[type, default: []].insert(room(of: file, in: folder)) } }
    for file in files where !Self.excepted.contains(file.path) {
      let own = room(of: file, in: folder)
      let known = rules[own, default: []].union([own])
      for word in words(in: file) {
        guard let home = homes[word], home.isDisjoint(with: known) else { continue }
        Issue.record("\(file) refers to \(word) in \(home.sorted())")
      }
    }
  }

  @Test("have a direction wherever there are several")
  func rules() {
    let parents = Set(
      SourceTree.sources.map { folder(of: $0).split(separator: "/").dropFirst() }.flatMap { parts in
        (1..<max(parts.count, 1)).map { parts.prefix($0).joined(separator: "/") }
      })
    #expect(parents == Set(Self.allowed.keys))
  }

  @Test("have no more files than a newcomer takes in at a glance")
  func sizes() {
    let folders = Dictionary(grouping: SourceTree.sources, by: folder)
    for (folder, files) in folders { #expect(files.count <= Self.limit, "\(folder): \(files.count)") }
  }

  /// The folder in `folder` in which the file is; `""` where it is the file's own.
  private func room(of file: SourceFile, in folder: String) -> String {
    let parts = file.path.dropFirst("Sources/\(folder)/".count).split(separator: "/")
    return parts.count > 1 ? String(parts[0]) : ""
  }

  private func folder(of file: SourceFile) -> String {
    file.path.split(separator: "/").dropLast().joined(separator: "/")
  }

  /// Names that the file declares for others.
  private func types(in file: SourceFile) -> [String] {
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

  private func words(in file: SourceFile) -> Set<String> {
    var found: Set<String> = []
    for line in file.bare.lines {
      for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
        if word.first?.isUppercase == true { found.insert(String(word)) }
      }
    }
    return found
  }
}
