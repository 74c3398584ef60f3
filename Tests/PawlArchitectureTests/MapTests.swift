import Testing

/// `Sources/README.md` is true to the tree.
@Suite("The map") struct MapTests {
  @Test("names every folder with sources in it, and no other")
  func folders() {
    let text = SourceTree.lines(of: "Sources/README.md").joined(separator: "\n")
    let quoted = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    let named = Set(quoted.filter { isPlace($0) })
    let folders = Set(
      SourceTree.sources.map { $0.path.split(separator: "/").dropFirst().dropLast().joined(separator: "/") })
    #expect(folders.subtracting(named) == [])
    let known = folders.union(SourceTree.names(in: "Sources").map { String($0.prefix { $0 != "/" }) })
    #expect(named.subtracting(known) == [])
  }

  /// Whether what the map quotes names a target or a room, and not a type, a field or a command.
  private func isPlace(_ quoted: String) -> Bool {
    let isLibrary = quoted.first == "C" && quoted.dropFirst().first?.isUppercase == true
    return !quoted.contains(".") && !quoted.contains(" ") && (isLibrary || quoted.lowercased().hasPrefix("pawl"))
  }
}
