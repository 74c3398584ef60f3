import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Where bytes on their way may wait") struct BufferSpaceTests {
  @Test("in the spool of the route, or in state-dir where it has none")
  func directories() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let parts = try running.parts(in: folder, "", "[route:default/off]\npath = /off\nuploads = off")
    defer { parts.closeStores() }
    let router = parts.router
    let (site, route) = (router.all[0], router.all[1])
    #expect(site.bufferSpace?.directory == folder.path + "/spool")
    #expect(route.bufferSpace?.directory == folder.path)
    #expect(route.bufferSpace?.makeFile() != nil && route.buffersRequests)
    #expect(site.maxRequestBuffer == 1 << 30 && site.maxResponseBuffer == 1 << 30)
    let later = try running.parts(in: folder, old: parts, "uploads = off\nrequest-buffering = off")
    defer { later.closeStores() }
    #expect(later.router.all[0].bufferSpace === route.bufferSpace && !later.router.all[0].buffersRequests)
  }

  @Test("nowhere, where the directory cannot be used: that is said")
  func unusable() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    #expect(BufferSpace(under: "/proc/none", running.server.services.workers, running.server.loopEvents) == nil)
    #expect(running.events("no-buffers").count == 1)
  }
}
