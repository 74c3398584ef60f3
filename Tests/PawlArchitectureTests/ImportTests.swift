import Testing

/// Imports run downhill: pure modules decide, effect modules act, PawlServer introduces one to the other.
@Suite("Imports") struct ImportTests {
  /// What each target may import, besides modules of the Swift standard library.
  static let allowed: [String: Set<String>] = [
    "PawlBase": ["CLinux"],
    "PawlHTTP": ["PawlBase", "RawStructuredFieldValues"],
    "PawlWire": ["PawlBase", "PawlHTTP", "CNGHTTP2"],
    "PawlCoding": ["PawlBase", "PawlHTTP", "CZlib", "CBrotli", "CZstd"],
    "PawlCache": ["PawlBase", "PawlHTTP", "RawStructuredFieldValues"],
    "PawlUpload": ["PawlBase", "PawlHTTP", "RawStructuredFieldValues"],
    "PawlConfig": ["PawlBase"],
    "PawlObserve": ["PawlBase", "CLinux"],
    "PawlTLS": ["PawlBase", "COpenSSL", "CLinux"],
    "PawlLoop": ["PawlBase", "PawlObserve", "PawlTLS", "CLibevent", "CLinux", "DequeModule"],
    "PawlDisk": ["PawlBase", "PawlLoop", "PawlObserve", "CSQLite", "CLinux"],
    "PawlCacheStore": [
      "PawlBase", "PawlHTTP", "PawlCache", "PawlLoop", "PawlObserve", "PawlDisk", "CXXHash", "CLinux",
    ],
    "PawlUploadStore": [
      "PawlBase", "PawlHTTP", "PawlCache", "PawlUpload", "PawlLoop", "PawlObserve", "PawlDisk", "CLinux",
    ],
    "PawlUpstream": ["PawlBase", "PawlHTTP", "PawlWire", "PawlObserve", "PawlTLS", "PawlLoop", "DequeModule"],
    "PawlCertificates": ["PawlBase", "PawlHTTP", "PawlTLS", "PawlLoop", "PawlConfig", "PawlObserve", "CLinux"],
    "PawlServer": [
      "PawlBase", "PawlHTTP", "PawlWire", "PawlCoding", "PawlCache", "PawlUpload", "PawlTLS", "PawlLoop", "PawlConfig",
      "PawlObserve",
      "PawlCertificates", "PawlDisk", "PawlCacheStore", "PawlUploadStore", "PawlUpstream", "COpenSSL", "CXXHash",
      "CLinux", "DequeModule",
    ],
    "PawlDemo": ["PawlBase", "PawlLoop", "PawlConfig", "PawlObserve", "PawlServer", "COpenSSL", "CLinux"],
    "PawlBench": [
      "PawlBase", "PawlHTTP", "PawlWire", "PawlUpload", "PawlTLS", "PawlLoop", "CNGHTTP2", "COpenSSL", "CXXHash",
      "CLinux", "DequeModule",
      "Histogram",
    ],
    "pawl-bench": ["PawlBench", "ArgumentParser"],
    "pawl": [
      "PawlBase", "PawlCertificates", "PawlDemo", "PawlLoop", "PawlServer", "PawlDisk", "PawlUploadStore", "PawlUpload",
      "PawlTLS", "PawlConfig", "PawlObserve", "ArgumentParser",
      "CLibevent",
      "CNGHTTP2", "COpenSSL", "CSQLite", "CXXHash", "CZlib", "CBrotli", "CZstd", "CLinux",
    ],
  ]
  static let standardLibrary: Set<String> = ["Swift", "Synchronization"]
  static let shims = [
    "CBrotli", "CLibevent", "CLinux", "CNGHTTP2", "COpenSSL", "CSQLite", "CXXHash", "CZlib", "CZstd",
  ]

  @Test("go only where the architecture lets them")
  func directions() {
    for file in SourceTree.sources {
      for module in imports(of: file) where !Self.standardLibrary.contains(module) {
        #expect(Self.allowed[file.target]?.contains(module) == true, "\(file) imports \(module)")
      }
    }
  }

  @Test("every folder of Sources is a target these tests know")
  func targets() {
    let known = Self.allowed.keys.map { $0 + "/" } + Self.shims.map { $0 + "/" }
    #expect(SourceTree.names(in: "Sources").filter { $0.hasSuffix("/") } == known.sorted())
  }

  @Test("nothing imports Foundation: it costs three milliseconds of every start, and three megabytes")
  func foundation() {
    for file in SourceTree.sources + SourceTree.tests {
      for module in imports(of: file) { #expect(!module.hasPrefix("Foundation"), "\(file) imports \(module)") }
    }
  }

  @Test("each C module sees the same feature macros, or debug builds from a clean folder break")
  func featureMacros() {
    let first = ["#ifndef _GNU_SOURCE", "#define _GNU_SOURCE 1", "#endif"]
    for shim in Self.shims {
      #expect(Array(SourceTree.lines(of: "Sources/\(shim)/shim.h").prefix(3)) == first, "Sources/\(shim)/shim.h")
      #expect(SourceTree.names(in: "Sources/\(shim)") == ["module.modulemap", "shim.h"], "Sources/\(shim)")
    }
  }

  private func imports(of file: SourceFile) -> [String] {
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor"]
    return file.bare.lines.compactMap { line in
      let words = line.split(separator: " ")
      guard let keyword = words.firstIndex(of: "import"), words[..<keyword].allSatisfy(isModifier) else { return nil }
      let named = words[(keyword + 1)...].first { !kinds.contains($0) }
      return named?.split(separator: ".").first.map(String.init)
    }
  }

  private func isModifier(_ word: Substring) -> Bool {
    word.hasPrefix("@") || ["package", "internal", "public", "private", "fileprivate"].contains(word)
  }
}
