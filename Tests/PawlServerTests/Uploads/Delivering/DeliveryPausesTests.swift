import PawlHTTP
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Completed uploads between attempts") struct DeliveryPausesTests {
  /// Runs on the loop.
  private func onLoop<Value>(_ bench: UploadBench, _ body: @escaping () -> Value) throws -> Value {
    var value: Value?
    bench.bench.loop.nextTurn { value = body() }
    bench.bench.turn { value != nil }
    return try #require(value)
  }

  @Test("a wall clock that is set back delays no attempt")
  func setBack() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    bench.attempt(upload)
    bench.clock.advanceWall(bySeconds: -3600)
    bench.clock.advance(by: .seconds(2))
    bench.settle(upload, after: 1)
    #expect(upload.status.phase == .complete && upload.attempts == 2)
    _ = bench.finish()
  }

  @Test("an upload is given up after its time, whatever the wall clock does", arguments: [-3600, 7200] as [Int64])
  func ends(_ jump: Int64) throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    let loop = bench.bench.loop
    upload.giveUpAt = bench.clock.wallSeconds() + 3600
    let pauses = DeliveryPauses(loop) { _, _ in }
    let (before, now) = try onLoop(bench) { (pauses.end(of: upload), loop.now) }
    #expect(before == now.advanced(by: .seconds(3600)))
    bench.clock.advanceWall(bySeconds: jump)
    #expect(try onLoop(bench) { pauses.end(of: upload) == before })
    upload.giveUpAt = nil
    #expect(try onLoop(bench) { pauses.end(of: upload) == nil })
    _ = bench.finish()
  }

  @Test("what another loop has tried meanwhile is left to that one; what its end was put off for goes on waiting")
  func elsewhere() throws {
    let bench = try UploadBench(nil)
    let upload = try bench.complete(Array("hello".utf8))
    let rings = TestLock([String]())
    let pauses = DeliveryPauses(bench.bench.loop) { _, next in rings.withLock { $0.append("\(next)") } }
    _ = try onLoop(bench) { pauses.begin(upload, for: .seconds(5), nextAttempt: 7, awaiting: nil) }
    bench.clock.advance(by: .seconds(6))
    bench.turnSome()
    #expect(rings.withLock { $0 } == [])
    upload.giveUpAt = bench.clock.wallSeconds() + 10
    _ = try onLoop(bench) { pauses.begin(upload, for: nil, nextAttempt: nil, awaiting: nil) }
    upload.giveUpAt = bench.clock.wallSeconds() + 20
    bench.clock.advance(by: .seconds(11))
    bench.turnSome()
    #expect(rings.withLock { $0 } == [])
    bench.clock.advance(by: .seconds(10))
    bench.bench.turn { rings.withLock { $0 } == ["end"] }
    _ = bench.finish()
  }

  @Test("when an origin comes back, those that could not reach it follow soon; others wait out their time")
  func cameBack() throws {
    let answered: [OriginStep] = [
      .expectHead, .read(5), .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    ]
    let bench = try UploadBench(ScriptedOrigin(.tcp, answered, answered))
    let uploads = try (0..<3).map { _ in try bench.complete(Array("hello".utf8)) }
    let (queue, name) = (bench.bench.serverLoop.uploads.queue, bench.bench.route.upstreamName)
    _ = try onLoop(bench) {
      queue.pause(uploads[0], for: .seconds(15), nextAttempt: nil, awaiting: name)
      queue.pause(uploads[1], for: .seconds(15), nextAttempt: nil)
    }
    bench.attempt(uploads[2])
    #expect(uploads[2].status.phase == .answered)
    bench.clock.advance(by: .milliseconds(300))
    bench.bench.turn { uploads[0].status.phase == .answered }
    #expect(uploads[1].status.phase == .complete && bench.origin?.acceptedCount ?? 3 <= 2)
    _ = bench.finish()
  }

  @Test("an upload that waits for its client ends expire-after its last request; other outcomes end that")
  func waitsForItsClient() throws {
    func answer(_ status: Int) -> [OriginStep] {
      [
        .expectHead, .read(5),
        .send("HTTP/1.1 \(status) No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
      ]
    }
    let bench = try UploadBench(
      ScriptedOrigin(.tcp, answer(401), answer(401), answer(503), answer(401)))
    let upload = try bench.complete(Array("hello".utf8))
    let day: Int64 = 86_400
    bench.attempt(upload)
    let first = bench.clock.wallSeconds() + day
    #expect(upload.giveUpAt == first && upload.status.expires == first)
    bench.clock.advance(by: .seconds(3600))
    // A start of pawl tries too, and is no request of the client.
    bench.bench.loop.nextTurn { DeliveryRecovery.deliver(upload, on: bench.bench.serverLoop.uploads, isUrgent: false) }
    bench.settle(upload, after: 1)
    #expect(upload.giveUpAt == first)
    bench.attempt(upload)
    #expect(upload.giveUpAt == nil && upload.nextAttempt != nil)
    bench.attempt(upload)
    #expect(upload.giveUpAt == first + 3600)
    bench.clock.advance(by: .seconds(day - 1))
    bench.turnSome()
    #expect(upload.status.phase == .complete)
    bench.clock.advance(by: .seconds(1))
    bench.bench.turn { upload.status.phase == .removed }
    bench.waitFor("upload-given-up")
    _ = bench.finish()
  }
}
