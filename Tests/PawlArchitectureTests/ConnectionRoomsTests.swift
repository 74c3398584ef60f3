import Testing

/// Both versions of HTTP stand on what is common to connections, which knows neither, and not on each other.
@Suite("Rooms of connections") struct ConnectionRoomsTests {
  private static let common = "Sources/PawlServer/Connections"
  private static let versions = ["\(common)/HTTP1", "\(common)/HTTP2"]

  /// It owns what waits for a deadline, by its type: a queue of anything would cost each hit a call through a witness table.
  private static let owner = "LoopConnections"

  @Test("the versions of HTTP do not refer to each other, nor what is common to either", arguments: versions)
  func directions(_ version: String) {
    let names = Set(files(in: version).flatMap(types))
    #expect(!names.isEmpty)
    let others = ([Self.common] + Self.versions).filter { $0 != version }
    for file in others.flatMap(files) where file.stem != Self.owner {
      let words = file.bare.lines.flatMap { line in
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
      }
      #expect(names.isDisjoint(with: words), "\(file) refers to \(names.intersection(words))")
    }
  }

  private func files(in folder: String) -> [SourceFile] {
    SourceTree.sources.filter { $0.path.split(separator: "/").dropLast().joined(separator: "/") == folder }
  }

  /// What the file declares for others.
  private func types(in file: SourceFile) -> [String] {
    file.bare.lines.compactMap { line in
      let words = line.split { " :<{(".contains($0) }
      guard line.first?.isLetter == true, !words.contains("private"),
        let kind = words.firstIndex(where: { ["class", "struct", "enum", "protocol"].contains($0) }),
        kind + 1 < words.count
      else { return nil }
      return String(words[kind + 1])
    }
  }
}
