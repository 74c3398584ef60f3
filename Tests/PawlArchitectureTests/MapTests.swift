import Testing

/// `Sources/README.md` is true to the tree.
@Suite("The map") struct MapTests {
  @Test("names every folder with sources in it, and no other; what else it names is a file")
  func folders() {
    let text = SourceTree.lines(of: "Sources/README.md").joined(separator: "\n")
    let quoted = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    let named = Set(
      quoted.filter { !$0.contains(".") && !$0.contains(" ") && $0.first?.isUppercase == true || $0.hasPrefix("pawl") })
    let folders = Set(
      SourceTree.sources.map { $0.path.split(separator: "/").dropFirst().dropLast().joined(separator: "/") })
    #expect(folders.subtracting(named) == [])
    let known = folders.union(SourceTree.names(in: "Sources").map { String($0.prefix { $0 != "/" }) })
    let files = Set((SourceTree.sources + SourceTree.tests).map(\.stem))
    let others: Set<String> = ["Tests", "pawl demo", "pawl check"]
    #expect(named.subtracting(known).subtracting(files).subtracting(others) == [])
  }
}
