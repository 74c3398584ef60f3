import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Deliveries whose outcome cannot be recorded") struct DeliveryAttemptOutcomeTests {
  @Test("what was sent and not answered becomes unknown when that can be recorded")
  func unknown() throws {
    let (broken, goOn) = (Gate(), Gate())
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .read(5), .open(broken), .wait(goOn)]))
    let upload = try bench.complete(Array("hello".utf8))
    bench.deliver(upload)
    bench.bench.turn { broken.isOpen }
    let catalogue = UploadBench.breakCatalogue(bench.store)
    goOn.open()
    bench.waitFor("upload-record-failed")
    #expect(upload.status.phase == .sent)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { bench.bench.running.events("upload-record-failed").count == 2 }
    bench.repair(catalogue)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { upload.status.phase == .unknown && bench.bench.serverLoop.uploads.queue.running.isEmpty }
    _ = bench.finish()
  }

  @Test("an answer is kept when it can be recorded")
  func answer() throws {
    let (sent, goOn) = (Gate(), Gate())
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, [.expectHead, .read(5), .open(sent), .wait(goOn), .send(created), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8))
    bench.deliver(upload)
    bench.bench.turn { sent.isOpen }
    let catalogue = UploadBench.breakCatalogue(bench.store)
    goOn.open()
    bench.waitFor("upload-record-failed")
    bench.repair(catalogue)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { upload.status.phase == .answered && bench.bench.serverLoop.uploads.queue.running.isEmpty }
    _ = bench.finish()
  }

  @Test("wrong bytes are refused for good when that can be recorded")
  func invalid() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(
      Array("abd".utf8), [(.reprDigest, "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")])
    let catalogue = UploadBench.breakCatalogue(bench.store)
    bench.deliver(upload)
    bench.waitFor("upload-record-failed")
    #expect(upload.status.phase == .complete)
    bench.repair(catalogue)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { upload.status.phase == .invalid && bench.bench.serverLoop.uploads.queue.running.isEmpty }
    _ = bench.finish()
  }

  @Test("what a start finds sent becomes unknown when that can be recorded")
  func recovered() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    #expect(upload.beginForward())
    var isSent = false
    upload.journalSent(on: bench.bench.loop) { isSent = $0 }
    bench.bench.turn { isSent }
    let catalogue = UploadBench.breakCatalogue(bench.store)
    bench.bench.loop.nextTurn { DeliveryRecovery.recover(upload, on: bench.bench.serverLoop.uploads) }
    bench.waitFor("upload-record-failed")
    #expect(upload.status.phase == .sent)
    bench.repair(catalogue)
    bench.clock.advance(by: .seconds(5))
    bench.bench.turn { upload.status.phase == .unknown }
    _ = bench.finish()
  }

  @Test("an upload whose removal cannot be recorded is still given up, or delivered")
  func removal() throws {
    let bench = try UploadBench(nil, site: "forward-give-up = 1h")
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    let catalogue = UploadBench.breakCatalogue(bench.store)
    bench.clock.advance(by: .seconds(3600))
    bench.turnSome()
    #expect(upload.status.phase == .complete)
    bench.repair(catalogue)
    for _ in 0..<3 {
      bench.clock.advance(by: .seconds(5))
      bench.turnSome()
    }
    bench.bench.turn { upload.status.phase == .removed }
    _ = bench.finish()
  }
}
