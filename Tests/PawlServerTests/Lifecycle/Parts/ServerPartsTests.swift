import CLinux
import PawlConfig
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What a reload replaces") struct ServerPartsTests {
  @Test("a spool is opened when a route uses it, and kept from then on")
  func spools() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let off = try running.parts(in: folder, "uploads = off")
    #expect(off.spools.stores.isEmpty && off.router.all[0].uploads == nil && off.router.all[0].plainSpool == nil)
    let plain = try running.parts(in: folder, old: off, "uploads = off\nplain-uploads = spool")
    #expect(plain.spools.stores.count == 1 && plain.router.all[0].uploads == nil)
    #expect(plain.router.all[0].plainSpool?.directory == folder.path + "/spool")
    let on = try running.parts(in: folder, old: plain, "uploads = on")
    #expect(on.spools.stores.count == 1 && on.spools.stores[0] === plain.spools.stores[0])
    #expect(on.router.all[0].uploads?.store === plain.spools.stores[0] && on.router.all[0].plainSpool == nil)
    let again = try running.parts(in: folder, old: on, "uploads = off")
    #expect(again.spools.stores.count == 1 && again.router.all[0].uploads == nil)
    again.closeStores()
  }

  @Test("a cache that leaves and comes back is the same while somebody has it, whatever it is called")
  func caches() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    func parts(_ name: String, _ path: String, old: ServerParts? = nil) throws -> ServerParts {
      try running.parts(
        in: folder, old: old, "uploads = off\ncache = \(name)", "[cache:\(name)]\npath = \(folder.path)/\(path)")
    }
    let first = try parts("a", "one")
    let held = try #require(first.stores["a"])
    let second = try parts("a", "two", old: first)
    #expect(second.stores["a"] !== held)
    let third = try parts("a", "one", old: second)
    #expect(third.stores["a"] === held)
    let renamed = try parts("b", "one", old: third)
    #expect(renamed.stores["b"] === held)
    #expect(rename(folder.path + "/one", folder.path + "/moved") == 0)
    let moved = try parts("b", "moved", old: renamed)
    #expect(moved.stores["b"] === held)
    moved.closeStores()
    second.closeStores()
  }

  @Test("two routes may use two spools; changed settings hold for the open one at once")
  func settings() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let more = "[route:default/b]\npath = /b*\nspool = other\n[spool:other]\npath = \(folder.path)/other\nmax-size = "
    let two = try running.parts(in: folder, "", more + "64M")
    #expect(two.spools.stores.count == 2)
    let store = two.router.all[1].uploads?.store
    #expect(two.router.all[0].uploads?.store !== store && store?.capacity == 64 << 20)
    let changed = try running.parts(in: folder, old: two, "", more + "65M")
    #expect(changed.router.all[1].uploads?.store === store && store?.capacity == 65 << 20)
    changed.closeStores()
  }

  @Test("a cache stays open, with its new limits")
  func cacheSettings() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let cache = "[cache:a]\npath = \(folder.path)/one\nmax-size = "
    let first = try running.parts(in: folder, "uploads = off\ncache = a", cache + "64M")
    let second = try running.parts(in: folder, old: first, "uploads = off\ncache = a", cache + "65M\nmemory = 1M")
    #expect(second.stores["a"] === first.stores["a"])
    #expect(second.stores["a"]?.maxSize == 65 << 20 && second.stores["a"]?.limitsInUse.memory == 1 << 20)
    second.closeStores()
  }

  @Test("a spool that cannot be opened is named, and nothing stays open")
  func failure() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    #expect(throws: ServerError.self) { try running.parts(in: folder, "", "[spool:default]\npath = /proc/none") }
    let fine = try running.parts(in: folder, "")
    fine.closeStores()
  }
}
