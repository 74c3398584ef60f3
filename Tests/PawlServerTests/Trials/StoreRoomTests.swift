import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("The room of a store") struct StoreRoomTests {
  private static let (mib, gib): (UInt64, UInt64) = (1 << 20, 1 << 30)

  static let caches: [(minFree: UInt64, free: UInt64, said: String?)] = [
    (gib, gib, nil), (gib, gib - 1, "1023M free, less than min-free (1G): nothing is kept"), (0, 8 * mib, nil),
    (0, 8 * mib - 1, "7.9M free, less than the 8M that a cache leaves free: nothing is kept"),
    (300 * mib, 0, "0 free, less than min-free (300M): nothing is kept"),
  ]

  @Test("a cache keeps nothing below min-free, or below 8M", arguments: caches)
  func cache(_ minFree: UInt64, _ free: UInt64, _ expected: String?) {
    var cache = CacheSettings(name: "default", path: "/")
    cache.minFree = minFree
    #expect(StoreRoom.shortage(cache, free: free) == expected)
  }

  static let spools: [(free: UInt64, total: UInt64, said: String?)] = [
    (256 * mib, 1024 * gib, nil),
    (256 * mib - 1, 1024 * gib, "255M free, less than the 256M that a spool leaves free: uploads are refused"),
    (50, 1000, nil), (49, 1000, "49 free, less than the 50 that a spool leaves free: uploads are refused"),
  ]

  @Test("a spool takes nothing below 256M, or a twentieth of a small file system", arguments: spools)
  func spool(_ free: UInt64, _ total: UInt64, _ expected: String?) {
    #expect(StoreRoom.shortage(SpoolSettings(name: "default", path: "/"), free: free, total: total) == expected)
  }

  @Test("names the nearest directory that exists, and the file system's room there")
  func nearest() throws {
    let folder = try TemporaryFolder()
    #expect(StoreRoom.nearest("\(folder.path)/a/b/c") == folder.path)
    #expect(StoreRoom.nearest("/no-such-directory/x") == "/")
    var cache = CacheSettings(name: "default", path: "\(folder.path)/a/b")
    cache.minFree = 1 << 60
    let said = try #require(StoreRoom.lacks(cache))
    #expect(said.hasPrefix("the file system of \(folder.path) has "))
    #expect(said.hasSuffix(" free, less than min-free (1048576T): nothing is kept"))
  }

  @Test("a file system in memory loses uploads")
  func memory() {
    #expect(StoreRoom.isInMemory("/dev/shm"))
    #expect(!StoreRoom.isInMemory("/proc"))
    #expect(!StoreRoom.isInMemory("/no-such-directory"))
    let spool = SpoolSettings(name: "default", path: "/dev/shm/pawl-test/spool")
    let expected = "/dev/shm is in memory (tmpfs): uploads do not survive a restart of the machine"
    #expect(StoreRoom.forgets(spool) == expected)
  }

  static let sizes: [(UInt64, String)] = [
    (0, "0"), (1023, "1023"), (1024, "1K"), (1536, "1.5K"), (10_240, "10K"), (10_241, "10K"), (5 * gib, "5G"),
    (5 * gib + 512 * mib, "5.5G"), (3072 * gib, "3T"),
  ]

  @Test("sizes are shown as people say them", arguments: sizes)
  func shown(_ bytes: UInt64, _ expected: String) {
    #expect(StoreRoom.shown(bytes) == expected)
  }
}
