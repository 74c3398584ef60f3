import CLinux
import PawlConfig
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlDisk
@testable import PawlServer
@testable import PawlUploadStore

@Suite("Which spools are open") struct UploadSpoolsTests {
  /// An open upload stays in the spool.
  private func leave(in store: UploadStore, prefix: String?, _ loop: EventLoop) throws -> UploadID {
    var made: UploadStore.Created?
    let origin = UploadOrigin(
      head: RequestHead(method: .post, target: Bytes("/f"), authority: Bytes("site")),
      prefix: prefix.map { Array($0.utf8) })
    store.create(.make(), origin, length: 5, finalAt: nil, durably: true, on: loop) { made = $0 }
    loop.turn { made == nil }
    return try #require(try made?.get()).id
  }

  @Test("a spool that nothing uses is opened where it holds uploads; where it cannot be, pawl starts without it")
  func unused() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let more = "[spool:other]\npath = \(folder.path)/other"
    let on = try running.parts(in: folder, "spool = other", more)
    let loop = try EventLoop(index: 9, clock: running.clock)
    let id = try leave(in: on.spools.stores[0], prefix: "/old/", loop)
    on.closeStores()
    let lock = try DirectoryLock(folder.path + "/other")
    let without = try running.parts(in: folder, "uploads = off", more)
    #expect(without.spools.stores.isEmpty && running.events("spool-not-opened").count == 1)
    without.closeStores()
    lock.release()
    let off = try running.parts(in: folder, "uploads = off", more)
    #expect(off.spools.stores.count == 1 && off.spools.stores[0].find(id) != nil)
    #expect(off.router.all[0].uploads == nil && off.spools["other"] == nil)
    #expect(off.router.urls.former == [Array("/old/".utf8)])
    var isRemoved: Bool?
    try #require(off.spools.stores[0].find(id)).remove(on: loop) { isRemoved = $0 }
    loop.turn { isRemoved == nil }
    off.closeStores()
    let none = try running.parts(in: folder, "uploads = off", more)
    #expect(none.spools.stores.isEmpty && none.router.urls.isEmpty)
  }

  @Test("what a reload leaves without a name stays open, after a start, too, as long as it holds uploads")
  func former() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    func parts(_ path: String, old: ServerParts? = nil) throws -> ServerParts {
      try running.parts(in: folder, old: old, "spool = other", "[spool:other]\npath = \(folder.path)/\(path)")
    }
    let loop = try EventLoop(index: 9, clock: running.clock)
    let first = try parts("one")
    #expect(first.spools.opened.count == 1)
    let id = try leave(in: first.spools.stores[0], prefix: nil, loop)
    let second = try parts("two", old: first)
    #expect(second.spools.stores.count == 2 && second.spools.opened.count == 1)
    #expect(second.spools["other"]?.store.find(id) == nil && second.spools.all[1].store.find(id) != nil)
    second.closeStores()
    let third = try parts("two")
    let upload = try #require(third.spools.all.last?.store.find(id))
    #expect(try FormerSpools.read(in: folder.path).map(\.path) == [folder.path + "/one"])
    var isRemoved: Bool?
    upload.remove(on: loop) { isRemoved = $0 }
    loop.turn { isRemoved == nil }
    third.closeStores()
    let last = try parts("two")
    #expect(last.spools.stores.count == 1)
    #expect(try FormerSpools.read(in: folder.path) == [])
    last.closeStores()
  }

  @Test("a directory that was moved is the same spool under its new path")
  func moved() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    func parts(_ path: String, old: ServerParts? = nil) throws -> ServerParts {
      try running.parts(in: folder, old: old, "spool = other", "[spool:other]\npath = \(folder.path)/\(path)")
    }
    let first = try parts("one")
    #expect(rename(folder.path + "/one", folder.path + "/two") == 0)
    let second = try parts("two", old: first)
    #expect(second.spools.opened.isEmpty && second.spools.stores.count == 1)
    #expect(second.spools["other"]?.store === first.spools["other"]?.store)
    #expect(second.spools["other"]?.plain.directory == folder.path + "/two")
    second.closeStores()
  }

  @Test("the spool that exists by itself is opened where it holds uploads, but not beside one of its name elsewhere")
  func builtIn() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let on = try running.parts(in: folder, "")
    let id = try leave(in: on.spools.stores[0], prefix: nil, try EventLoop(index: 9, clock: running.clock))
    on.closeStores()
    let other = "[spool:other]\npath = \(folder.path)/other"
    let off = try running.parts(in: folder, "spool = other", other)
    #expect(off.spools.stores.count == 2 && off.spools.all[0].settings.name == "other")
    #expect(off.spools.all[1].store.find(id) != nil && off.router.urls.former.isEmpty)
    off.closeStores()
    let moved = try running.parts(in: folder, "", "[spool:default]\npath = \(folder.path)/elsewhere")
    #expect(moved.spools.stores.count == 1 && running.events("spool-left-behind").count == 1)
    moved.closeStores()
  }
}
