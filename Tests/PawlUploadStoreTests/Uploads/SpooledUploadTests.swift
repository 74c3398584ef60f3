import PawlDisk
import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("One upload in the spool") struct SpooledUploadTests {
  @Test("the freshest credentials are kept, over a restart")
  func credentials() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    #expect(upload.credentials == nil)
    var fields = Fields()
    fields.append(.authorization, "Bearer new")
    upload.refreshCredentials(fields)
    fixture.store.flush()
    #expect(upload.credentials == fields)
    #expect(try fixture.killed().found(upload).credentials == fields)
  }

  @Test("observers hear of changes of phase, offset and refusal, on their loop, joined, until they look away")
  func observes() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    var phases: [UploadPhase] = []
    var observation: UploadObservation? = upload.observe(on: fixture.loop) { phases.append(upload.status.phase) }
    try fixture.writer(upload).write([1])
    try fixture.sync(upload)
    fixture.loop.turn { phases.isEmpty }
    #expect(phases.last == .open)
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    fixture.loop.turn { phases.last != .complete }
    let count = phases.count
    upload.lastRefusal = nil
    fixture.loop.turn { phases.count == count }
    observation = nil
    #expect(upload.state.withLock { $0.observers.isEmpty })
    withExtendedLifetime(observation) {}
  }

  @Test("an upload without bytes cannot be sent")
  func noBody() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed([1])
    #expect(try fixture.step { upload.invalidate(why: "digest", on: $0, then: $1) })
    let body = try fixture.result { upload.openBody(on: fixture.loop, then: $0) }
    #expect(throws: StoreError.dropped) { try body.get() }
  }

  @Test("an open upload costs a few KiB of memory at most")
  func size() { #expect(MemoryLayout<UploadState>.size < 1024) }
}
