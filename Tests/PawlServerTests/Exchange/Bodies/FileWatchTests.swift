import CLinux
import PawlCacheStore
import PawlHTTP
import PawlLoop
import Testing

@testable import PawlServer

@Suite("Watch over the file behind an answer") struct FileWatchTests {
  /// A body of 1000 bytes in a file, and its path.
  private func stored(_ bench: ServerBench) throws -> (StoredBody, String) {
    let body = try bench.stored(total: 1000).body
    #expect(body.isUntouched())
    let id = body.id.hex
    return (body, "\(bench.cacheDirectory)/bodies/\(id.prefix(2))/\(id)")
  }

  private func look(_ watch: inout FileWatch, _ offset: UInt64, _ milliseconds: UInt64, isCopied: Bool = false)
    -> FileLook
  {
    watch.look(at: offset, isCopied: isCopied, now: Monotonic(nanoseconds: milliseconds << 20))
  }

  @Test("a file that nobody touches stays the same; one that is cut behind what was sent is changed, once")
  func cut() throws {
    let bench = try ServerBench { $0.cache = "memory-object = 0\npacked-object = 0" }
    let (body, path) = try stored(bench)
    body.withFill { $0 = bench }
    var watch = FileWatch(body, from: 100)
    #expect(look(&watch, 500, 1) == .same)
    #expect(truncate(path, 500) == 0)
    #expect(look(&watch, 500, 1) == .same)
    #expect(look(&watch, 500, 2) == .changed && look(&watch, 500, 3) == .same)
    // What was read back after the change is good.
    #expect(truncate(path, 400) == 0)
    #expect(body.isUntouched() || body.fileChange.count == 2)
    watch.gave()
    #expect(look(&watch, 100, 4) == .same)
    body.withFill { $0 = nil }
  }

  @Test(
    "what is under way may be spoilt where it is sent from the file itself",
    arguments: [(100, true, FileLook.changed), (100, false, .changed), (900, true, .changed), (900, false, .spoilt)]
      as [(UInt64, Bool, FileLook)])
  func spoilt(_ offset: UInt64, _ isCopied: Bool, _ expected: FileLook) throws {
    let bench = try ServerBench { $0.cache = "memory-object = 0\npacked-object = 0" }
    let (body, path) = try stored(bench)
    body.withFill { $0 = bench }
    var watch = FileWatch(body, from: 100)
    #expect(truncate(path, 500) == 0)
    #expect(look(&watch, offset, 1, isCopied: isCopied) == expected)
    body.withFill { $0 = nil }
  }
}
