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

  @Test("two routes may use two spools; changed settings are said to need a restart")
  func settings() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let more = "[route:default/b]\npath = /b*\nspool = other\n[spool:other]\npath = \(folder.path)/other\nmax-size = "
    let two = try running.parts(in: folder, "", more + "64M")
    #expect(two.spools.stores.count == 2)
    #expect(two.router.all[0].uploads?.store !== two.router.all[1].uploads?.store)
    let changed = try running.parts(in: folder, old: two, "", more + "65M")
    #expect(changed.router.all[1].uploads?.store === two.router.all[1].uploads?.store)
    #expect(changed.needsRestart.count == 1)
    changed.closeStores()
  }

  @Test(
    "a cache stays as it was opened; a changed size is said to need a restart",
    arguments: [
      "max-size = 65M", "min-free = 1M", "memory = 1M", "memory-object = 1K", "packed-object = 0", "max-size = 64M",
    ])
  func cacheSettings(change: String) throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let cache = "[cache:a]\npath = \(folder.path)/one\n"
    let first = try running.parts(in: folder, "uploads = off\ncache = a", cache + "max-size = 64M")
    let size = change.hasPrefix("max-size") ? "" : "max-size = 64M\n"
    let second = try running.parts(in: folder, old: first, "uploads = off\ncache = a", cache + size + change)
    #expect(second.stores["a"] === first.stores["a"])
    #expect(second.needsRestart.count == (change == "max-size = 64M" ? 0 : 1))
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
