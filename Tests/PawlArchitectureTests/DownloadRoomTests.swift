import Testing

/// What is given refers to what asks for it, that to what is filled, and that to what is fetched; never the other way.
@Suite("Rooms of downloads") struct DownloadRoomTests {
  /// Each may refer to those before it.
  static let rooms = ["Fetches", "Fills", "Collapsing", "Answers"]
  private static let folder = "Sources/PawlServer/Downloads/"

  @Test("refer only to those below them", arguments: rooms.indices)
  func directions(_ index: Int) {
    let files = SourceTree.sources.filter { $0.path.hasPrefix(Self.folder) }
    #expect(Set(files.map(room)) == Set(Self.rooms))
    var homes: [String: Set<String>] = [:]
    for file in files { for type in FolderTests().types(in: file) { homes[type, default: []].insert(room(of: file)) } }
    let above = Set(Self.rooms[(index + 1)...])
    for file in files where room(of: file) == Self.rooms[index] {
      for word in FolderTests().words(in: file) {
        guard let home = homes[word], home.isSubset(of: above) else { continue }
        Issue.record("\(file) refers to \(word) in \(home)")
      }
    }
  }

  private func room(of file: SourceFile) -> String {
    String(file.path.dropFirst(Self.folder.count).prefix { $0 != "/" })
  }
}
