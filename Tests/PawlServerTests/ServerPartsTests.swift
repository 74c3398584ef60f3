import PawlConfig
import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer
@testable import PawlStore

@Suite("What a reload replaces") struct ServerPartsTests {
  private func parts(
    _ running: TestServer, _ folder: TemporaryFolder, old: ServerParts? = nil, _ site: String, _ more: String = ""
  ) throws -> ServerParts {
    try ServerParts(
      TestServer.configuration(url: "http://127.0.0.1:1", in: folder) { changes in
        changes.site = site
        changes.more = more
      }, workers: running.server.workers, events: running.server.loopEvents, clock: running.clock,
      resolver: running.server.resolver, old: old)
  }

  @Test("a spool is opened when a route uses it, and kept from then on")
  func spools() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let off = try parts(running, folder, "uploads = off")
    #expect(off.spools.stores.isEmpty && off.router.all[0].uploads == nil && off.router.all[0].plainSpool == nil)
    let plain = try parts(running, folder, old: off, "uploads = off\nplain-uploads = spool")
    #expect(plain.spools.stores.count == 1 && plain.router.all[0].uploads == nil)
    #expect(plain.router.all[0].plainSpool?.directory == folder.path + "/spool")
    let on = try parts(running, folder, old: plain, "uploads = on")
    #expect(on.spools.stores.count == 1 && on.spools.stores[0] === plain.spools.stores[0])
    #expect(on.router.all[0].uploads?.store === plain.spools.stores[0] && on.router.all[0].plainSpool == nil)
    let again = try parts(running, folder, old: on, "uploads = off")
    #expect(again.spools.stores.count == 1 && again.router.all[0].uploads == nil)
    again.closeStores()
  }

  @Test("two routes may use two spools; changed settings are said to need a restart")
  func settings() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let more = "[route:default/b]\npath = /b*\nspool = other\n[spool:other]\npath = \(folder.path)/other\nmax-size = "
    let two = try parts(running, folder, "", more + "64M")
    #expect(two.spools.stores.count == 2)
    #expect(two.router.all[0].uploads?.store !== two.router.all[1].uploads?.store)
    let changed = try parts(running, folder, old: two, "", more + "65M")
    #expect(changed.router.all[1].uploads?.store === two.router.all[1].uploads?.store)
    #expect(running.events("reload-partial").count == 1)
    changed.closeStores()
  }

  @Test("a spool that nothing uses is opened where it holds uploads; where it cannot be, pawl starts without it")
  func unused() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let more = "[spool:other]\npath = \(folder.path)/other"
    let on = try parts(running, folder, "spool = other", more)
    let loop = try EventLoop(index: 9, clock: running.clock)
    var made: UploadStore.Created?
    let origin = UploadOrigin(
      head: RequestHead(method: .post, target: Bytes("/f"), authority: Bytes("site")), prefix: Array("/old/".utf8))
    on.spools.stores[0].create(.make(), origin, length: 5, finalAt: nil, durably: true, on: loop) { made = $0 }
    loop.turn { made == nil }
    let upload = try #require(try made?.get())
    on.closeStores()
    let lock = try DirectoryLock(folder.path + "/other")
    let without = try parts(running, folder, "uploads = off", more)
    #expect(without.spools.stores.isEmpty && running.events("spool-not-opened").count == 1)
    without.closeStores()
    lock.release()
    let off = try parts(running, folder, "uploads = off", more)
    #expect(off.spools.stores.count == 1 && off.spools.stores[0].find(upload.id) != nil)
    #expect(off.router.all[0].uploads == nil && off.spools["other"] == nil)
    #expect(off.router.urls.former == [Array("/old/".utf8)])
    var isRemoved: Bool?
    try #require(off.spools.stores[0].find(upload.id)).remove(on: loop) { isRemoved = $0 }
    loop.turn { isRemoved == nil }
    off.closeStores()
    let none = try parts(running, folder, "uploads = off", more)
    #expect(none.spools.stores.isEmpty && none.router.urls.isEmpty)
  }

  @Test("a spool that cannot be opened is named, and nothing stays open")
  func failure() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    #expect(throws: ServerError.self) { try parts(running, folder, "", "[spool:default]\npath = /proc/none") }
    let fine = try parts(running, folder, "")
    fine.closeStores()
  }
}
