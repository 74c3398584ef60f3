import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import PawlUpload
import PawlUploadStore
import Testing

@testable import PawlServer

@Suite("Uploads after a start") struct DeliveryRecoveryTests {
  /// Leaves an upload in the folder as a pawl does that ended in this phase.
  private func leave(
    _ phase: UploadPhase, isAnswered: Bool = false, host: String = "site", in folder: TemporaryFolder
  ) throws -> UploadID {
    let clock = ManualClock()
    let (pool, events) = (WorkerPool(threads: 1), EventLog { _ in })
    let store = try UploadStore(
      UploadStoreSettings(name: "default", path: folder.path + "/spool"), pool: pool, events: events, clock: clock)
    let loop = try EventLoop(index: 9, clock: clock)
    let origin = UploadOrigin(
      head: RequestHead(method: .put, target: Bytes("/f"), authority: Bytes(host), framing: .length(5)))
    func wait<Value>(_ start: (@escaping (Value) -> Void) -> Void) -> Value? {
      var value: Value?
      start { value = $0 }
      loop.turn { value == nil }
      return value
    }
    let id = UploadID.make()
    let made: Result<SpooledUpload, UploadStoreRefusal>? = wait {
      store.create(id, origin, length: 5, finalAt: nil, durably: true, on: loop, then: $0)
    }
    let upload = try #require(try made?.get())
    let writer: UploadWriter? = wait { upload.takeOver(on: loop, displaced: {}, then: $0) }
    _ = Array("hello".utf8).withUnsafeBytes { writer?.write($0) }
    #expect(wait { upload.complete(on: loop, then: $0) } == true)
    if phase == .sent {
      #expect(upload.beginForward())
      let early = isAnswered ? UploadAnswer(status: 200, at: clock.wallSeconds()) : nil
      #expect(wait { upload.journalSent(early: early, on: loop, then: $0) } == true)
    }
    store.close()
    pool.stop()
    return id
  }

  private func upload(_ id: UploadID, of pawl: TestServer) -> SpooledUpload? {
    pawl.onLoop { $0.services.router.all[0].uploads?.store.find(id) } ?? nil
  }

  @Test("what was complete is delivered")
  func complete() throws {
    let folder = try TemporaryFolder()
    let id = try leave(.complete, in: folder)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder)
    pawl.waitUntil("it is answered") { upload(id, of: pawl)?.status.phase == .answered }
    #expect(upload(id, of: pawl)?.answer?.status == 201)
    #expect(pawl.stop() == [])
    #expect(String(decoding: origin.received[0], as: UTF8.self).hasPrefix("PUT /f HTTP/1.1\r\n"))
  }

  @Test("what was sent is unknown, or sent again where the route says so", arguments: [false, true])
  func sent(isAgain: Bool) throws {
    let folder = try TemporaryFolder()
    let id = try leave(.sent, in: folder)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder) { $0.site = isAgain ? "delivery = at-least-once" : "" }
    let wanted: UploadPhase = isAgain ? .answered : .unknown
    pawl.waitUntil("it is \(wanted)") { upload(id, of: pawl)?.status.phase == wanted }
    pawl.settle()
    #expect(origin.acceptedCount == (isAgain ? 1 : 0))
    // It is never recorded as what only the operator sends again.
    #expect(pawl.events("upload-unknown").count == (isAgain ? 0 : 1))
    _ = pawl.stop()
  }

  @Test("what an origin had answered before it had all is unknown, also where the route says that it may be sent again")
  func answeredEarly() throws {
    let folder = try TemporaryFolder()
    let id = try leave(.sent, isAnswered: true, in: folder)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder) { $0.site = "delivery = at-least-once" }
    pawl.waitUntil("it is unknown") { upload(id, of: pawl)?.status.phase == .unknown }
    pawl.settle()
    #expect(origin.acceptedCount == 0 && upload(id, of: pawl)?.status.originStatus == 200)
    _ = pawl.stop()
  }

  @Test("without a route it waits, until a reload brings one")
  func noRoute() throws {
    let folder = try TemporaryFolder()
    let id = try leave(.complete, host: "other", in: folder)
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder) { $0.site = "host = site" }
    pawl.waitFor("upload-waiting")
    #expect(upload(id, of: pawl)?.status.phase == .complete && origin.acceptedCount == 0)
    pawl.server.reload(try TestServer.configuration(url: "http://127.0.0.1:\(origin.port)", in: folder))
    pawl.waitUntil("it is answered") { upload(id, of: pawl)?.status.phase == .answered }
    #expect(pawl.stop() == [])
  }

  @Test("a delivery that was begun for a client before this is not judged, although its upload is sent")
  func begunBefore() throws {
    let folder = try TemporaryFolder()
    let id = try leave(.complete, in: folder)
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .wait(gate), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder)
    pawl.waitUntil("it is sent") { upload(id, of: pawl)?.status.phase == .sent }
    let spools = pawl.server.parts.withLock { $0.spools }
    #expect(spools.foundSent == [])
    pawl.server.beginDeliveries(stores: spools.stores, foundSent: spools.foundSent)
    pawl.settle()
    #expect(upload(id, of: pawl)?.status.phase == .sent)
    gate.open()
    pawl.waitUntil("it is answered") { upload(id, of: pawl)?.status.phase == .answered }
    #expect(pawl.stop() == [])
  }

  @Test("a delivery that runs is waited for when the server drains")
  func drains() throws {
    let folder = try TemporaryFolder()
    let id = try leave(.complete, in: folder)
    let gate = Gate()
    let origin = ScriptedOrigin(.tcp, [.expectHead, .read(5), .wait(gate), .send(created), .readToEnd])
    let pawl = try TestServer(origin, in: folder)
    pawl.waitUntil("it is sent") { upload(id, of: pawl)?.status.phase == .sent }
    let drained = Gate()
    pawl.server.drain { drained.open() }
    pawl.settle()
    #expect(!drained.isOpen)
    gate.open()
    #expect(drained.wait())
    #expect(upload(id, of: pawl)?.status.phase == .answered)
    #expect(pawl.stop() == [])
  }
}
