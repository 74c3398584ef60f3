import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Completed uploads on a loop") struct DeliveryQueueTests {
  @Test("those beyond the limit wait their turn; those a client waits for come first")
  func order() throws {
    let gate = Gate()
    let held: [OriginStep] = [.expectHead, .read(5), .wait(gate), .send(created)]
    let answered: [OriginStep] = [.expectHead, .read(5), .send(created)]
    let scripts = Array(repeating: held, count: DeliveryQueue.limit) + [answered, answered]
    let origin = ScriptedOrigin(.tcp, scripts: scripts)
    let alone = "max-share-per-client = 100%\nmax-share-per-path = 100%"
    let bench = try UploadBench(origin, upstream: "max-connections = 1000\n" + alone)
    let uploads = try (0..<DeliveryQueue.limit + 2).map { _ in try bench.complete(Array("hello".utf8)) }
    let queue = bench.bench.serverLoop.uploads.queue
    bench.bench.loop.nextTurn {
      for upload in uploads.dropLast() { queue.enter(upload, bench.bench.route, isUrgent: false) }
      queue.enter(uploads[DeliveryQueue.limit + 1], bench.bench.route, isUrgent: true)
      queue.enter(uploads[DeliveryQueue.limit + 1], bench.bench.route, isUrgent: true)
    }
    bench.bench.turn { queue.running.count == DeliveryQueue.limit }
    #expect(uploads.suffix(2).allSatisfy { $0.status.phase == .complete })
    gate.open()
    bench.bench.turn { uploads.allSatisfy { $0.status.phase == .answered } }
    #expect(origin.acceptedCount == DeliveryQueue.limit + 2)
    _ = bench.finish()
    let ids = origin.received.suffix(2).map { String(decoding: $0, as: UTF8.self) }
    #expect(ids.first?.contains(uploads[DeliveryQueue.limit + 1].id.hex) == true)
  }

  @Test("an upload is entered once, whoever asks how often")
  func once() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8))
    for _ in 0..<5 { bench.deliver(upload) }
    bench.settle(upload, after: 0)
    for _ in 0..<5 { bench.deliver(upload) }
    bench.bench.turn { bench.bench.serverLoop.uploads.queue.running.isEmpty }
    #expect(upload.status.phase == .answered && bench.origin?.acceptedCount == 1)
    #expect(bench.finish() == [])
  }

  @Test("while it is held nothing starts; what was entered meanwhile starts at its release")
  func held() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .read(5), .send(created), .readToEnd]))
    let upload = try bench.complete(Array("hello".utf8))
    let queue = bench.bench.serverLoop.uploads.queue
    bench.bench.loop.nextTurn { queue.hold() }
    bench.turnSome()
    bench.deliver(upload)
    bench.turnSome()
    #expect(queue.running.isEmpty && upload.status.phase == .complete)
    bench.bench.loop.nextTurn { queue.release() }
    bench.settle(upload, after: 0)
    #expect(upload.status.phase == .answered && bench.origin?.acceptedCount == 1)
    #expect(bench.finish() == [])
  }

  @Test("once it drains, later attempts are left to the next start; what was stopped stays complete")
  func ends() throws {
    let bench = try UploadBench(ScriptedOrigin(.tcp, [.expectHead, .readToEnd]))
    let (one, other) = (try bench.complete(OriginStep.pattern(from: 0, count: 16 << 20)), try bench.complete([1]))
    bench.deliver(one)
    bench.bench.turn { bench.bench.serverLoop.uploads.queue.running.count == 1 }
    let queue = bench.bench.serverLoop.uploads.queue
    bench.bench.loop.nextTurn { queue.pause(other, for: .seconds(1), nextAttempt: nil) }
    bench.turnSome()
    bench.bench.loop.nextTurn { queue.stop() }
    bench.bench.turn { queue.running.isEmpty }
    bench.clock.advance(by: .seconds(5))
    bench.bench.loop.nextTurn { queue.enter(other, bench.bench.route, isUrgent: true) }
    bench.bench.turn { true }
    #expect(queue.running.isEmpty && other.status.phase == .complete)
    _ = bench.finish()
  }
}
