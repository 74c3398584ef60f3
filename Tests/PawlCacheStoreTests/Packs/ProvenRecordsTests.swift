import CLinux
import PawlLoop
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("What was proven in a pack") struct ProvenRecordsTests {
  private static let start = Monotonic(nanoseconds: 5_000_000_000)

  /// A file, and what tells of its changes.
  private final class Watched {
    private let directory = TestDirectory()
    let descriptor: CInt
    init() throws {
      descriptor = pawl_open(directory.path + "/file", O_RDWR | O_CREAT, 0o600)
      #expect(descriptor >= 0)
    }
    deinit { close(descriptor) }
    func stamp() throws -> FileStamp { try #require(FileStamp(of: descriptor)) }
    func change() throws { #expect(pwrite(descriptor, "x", 1, try off_t(stamp().size)) == 1) }
  }

  @Test("a content holds where it was noted, and nowhere else")
  func places() throws {
    let file = try Watched()
    var proven = ProvenRecords()
    let least = UInt64(ProvenRecords.least)
    #expect(!proven.has(0, now: Self.start) { try? file.stamp() })
    proven.note(3 * least + 64, now: Self.start, try file.stamp())
    #expect(proven.has(3 * least + 64, now: Self.start) { try? file.stamp() })
    for other in [2 * least + 64, 4 * least, 100 * least] {
      #expect(!proven.has(other, now: Self.start) { try? file.stamp() })
    }
  }

  @Test("a file is looked at once in a moment, and a change is noticed in the next")
  func moments() throws {
    let file = try Watched()
    var (proven, looks) = (ProvenRecords(), 0)
    let look = { () -> FileStamp? in
      looks += 1
      return try? file.stamp()
    }
    proven.note(64, now: Self.start, try file.stamp())
    for _ in 0..<3 {
      let isThere = proven.has(64, now: Self.start, look)
      #expect(isThere)
    }
    #expect(looks == 1)
    try file.change()
    var isThere = proven.has(64, now: Self.start.advanced(by: .milliseconds(2)), look)
    #expect(!isThere)
    #expect(proven.changes == 1)
    // Forgotten, not only this time.
    isThere = proven.has(64, now: Self.start.advanced(by: .milliseconds(4)), look)
    #expect(!isThere)
  }

  @Test("a file that tells nothing proves nothing")
  func silent() throws {
    var proven = ProvenRecords()
    proven.note(64, now: Self.start, try Watched().stamp())
    #expect(!proven.has(64, now: Self.start) { nil })
  }

  @Test("what pawl writes keeps the proofs, unless somebody else has written, too")
  func written() throws {
    let file = try Watched()
    var proven = ProvenRecords()
    proven.note(64, now: Self.start, try file.stamp())
    let before = try file.stamp()
    try file.change()
    proven.wrote(before, try file.stamp())
    #expect(proven.has(64, now: Self.start.advanced(by: .milliseconds(2))) { try? file.stamp() })
    try file.change()
    let late = try file.stamp()
    try file.change()
    proven.wrote(late, try file.stamp())
    #expect(!proven.has(64, now: Self.start.advanced(by: .milliseconds(4))) { try? file.stamp() })
  }

  @Test("what is noted after a change forgets what was before it")
  func noted() throws {
    let file = try Watched()
    var proven = ProvenRecords()
    proven.note(64, now: Self.start, try file.stamp())
    try file.change()
    let other = 9 * UInt64(ProvenRecords.least)
    proven.note(other, now: Self.start, try file.stamp())
    #expect(!proven.has(64, now: Self.start) { try? file.stamp() })
    #expect(proven.has(other, now: Self.start) { try? file.stamp() })
  }
}
