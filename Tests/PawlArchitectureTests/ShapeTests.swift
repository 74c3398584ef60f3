import Testing

@Suite("Files and functions") struct ShapeTests {
  @Test("no file is longer than 400 lines")
  func fileLength() {
    for file in SourceTree.sources + SourceTree.tests {
      #expect(file.lines.count <= 400, "\(file) has \(file.lines.count) lines")
    }
  }

  @Test("no function is longer than 60 lines")
  func functionLength() {
    for file in SourceTree.sources + SourceTree.tests {
      for function in file.bare.functions where function.lineCount > 60 {
        Issue.record("\(file):\(function.firstLine): a function of \(function.lineCount) lines")
      }
    }
  }

  @Test("nothing is public, nothing is unfinished, and nothing below the tests hides or traps on an error")
  func words() {
    let banned: Set<Substring> = ["try!", "try?"]
    let isPublic = ["public ", "open class ", "open func ", "open var "]
    for file in SourceTree.sources {
      for (number, line) in file.bare.lines.enumerated() {
        let words = line.split { " ([{=,".contains($0) }
        let code = words.joined(separator: " ")
        let isBad =
          words.contains(where: banned.contains) || line.contains("fatalError(")
          || isPublic.contains(where: code.hasPrefix)
        if isBad { Issue.record("\(file):\(number + 1): \(line)") }
      }
      for (number, line) in file.lines.enumerated() {
        if line.contains("TODO") || line.contains("FIXME") { Issue.record("\(file):\(number + 1): unfinished work") }
      }
    }
  }

  @Test(
    "each source file with logic in it has its test file: Sources/T/Room/Name.swift, Tests/TTests/Room/NameTests.swift")
  func mirrors() {
    let missing = SourceTree.sources.filter { file in
      guard file.target != "pawl", hasLogic(file) else { return false }
      let stems = [file.stem, String(file.stem.split(separator: "+").first ?? "")].map { "\($0)Tests" }
      let folder =
        "Tests/\(file.target)Tests/" + file.path.split(separator: "/").dropFirst(2).dropLast().map { "\($0)/" }.joined()
      return !SourceTree.tests.contains { $0.path == folder + $0.name && stems.contains($0.stem) }
    }
    #expect(missing.map(\.path) == [])
  }

  /// More than a few lines in which something is decided.
  private func hasLogic(_ file: SourceFile) -> Bool {
    let decisions = ["if ", "guard ", "switch ", "for ", "while "]
    let lines = file.bare.lines
    return lines.count { line in decisions.contains { line.contains($0) } } > 8
  }

  @Test("what the compiler cannot check lives where it belongs, and says why it is safe")
  func unsafeCode() {
    let promises = ["@unchecked Sendable", "nonisolated(unsafe)"]
    let pointers = ["Unmanaged", "unsafeBitCast(", ".assumingMemoryBound"]
    let homes: Set<String> = [
      "PawlBase", "PawlLoop", "PawlDisk", "PawlCacheStore", "PawlUploadStore", "PawlTLS", "PawlObserve",
    ]
    // What C hands back to its callbacks: the one way to get there from a pointer. And what is made once for C to read.
    // And an encoder that the pool and its loop hand to each other.
    let exceptions = [
      "HTTP2Callbacks": "Unmanaged", "HTTP2FixedHead": "@unchecked Sendable", "FormEncoding": "@unchecked Sendable",
    ]
    for file in SourceTree.sources {
      for (number, line) in file.bare.lines.enumerated() where (promises + pointers).contains(where: line.contains) {
        if let exception = exceptions[file.stem], line.contains(exception),
          !(promises + pointers).contains(where: { $0 != exception && line.contains($0) })
        {
          continue
        }
        #expect(homes.contains(file.target), "\(file):\(number + 1): \(line)")
        guard promises.contains(where: line.contains) else { continue }
        // Above the line, on it, or on the first lines of what it begins.
        let place = file.lines[max(0, number - 3)..<min(file.lines.count, number + 4)]
        #expect(
          place.contains { $0.contains("// Safe:") || $0.contains("/// Safe:") }, "\(file):\(number + 1): \(line)")
      }
    }
  }

  @Test("the top of the repository holds what it is known to hold")
  func topLevel() {
    let known: Set<String> = [
      ".ci/", ".github/", ".gitignore", ".swift-format", "Config/", "Deploy/", "LICENSE", "Package.swift",
      "README.md",
      "Sources/", "Tests/",
    ]
    // What git does not keep: its own folder, builds, and what a run leaves in the working directory.
    let unkept: Set<String> = [".git", ".git/", "Package.resolved", "pawl-state/", "__pycache__/"]
    let names = Set(SourceTree.names(in: ".")).subtracting(unkept).filter { !$0.hasPrefix(".build") }
    #expect(names == known)
  }
}
