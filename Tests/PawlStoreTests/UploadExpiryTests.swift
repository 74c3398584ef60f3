import PawlLoop
import PawlUpload
import Testing

@testable import PawlStore

@Suite("What is collected") struct UploadExpiryTests {
  @Test("an incomplete upload goes so long after its last byte, and after its creation at the latest")
  func incomplete() throws {
    let fixture = try UploadFixture { settings in
      (settings.expireAfter, settings.maxAge) = (.seconds(100), .seconds(250))
    }
    let start = fixture.clock.wallSeconds()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    #expect(upload.status.expires == start + 100)
    for round in 1...2 {
      fixture.clock.advance(by: .seconds(90))
      writer.write([1])
      #expect(upload.status.expires == min(start + Int64(90 * round) + 100, start + 250))
      fixture.store.core.sweep()
      try fixture.settle()
      #expect(fixture.store.find(upload.id) != nil)
    }
    fixture.clock.advance(by: .seconds(70))
    fixture.store.core.sweep()
    try fixture.settle()
    #expect(fixture.store.find(upload.id) == nil)
    #expect(fixture.store.isTombstone(upload.id))
    #expect(!fixture.hasFile(upload))
    #expect(writer.write([1]) == .displaced)
    #expect(fixture.logged("upload-expired").count == 1)
    fixture.clock.advance(by: .seconds(86_402))
    fixture.store.core.sweep()
    try fixture.settle()
    #expect(!fixture.store.isTombstone(upload.id))
    #expect(try fixture.killed().store.isTombstone(upload.id) == false)
  }

  @Test("a completed upload stays until it is given up, if ever; an unknown one always")
  func complete() throws {
    let fixture = try UploadFixture()
    let (kept, dropped, unknown) = (
      try fixture.completed([1]), try fixture.completed([2]), try fixture.completed([3])
    )
    dropped.giveUpAt = fixture.clock.wallSeconds() + 1000
    #expect(unknown.beginForward())
    #expect(try fixture.step { unknown.journalSent(on: $0, then: $1) })
    #expect(try fixture.step { unknown.becomeUnknown(why: "", on: $0, then: $1) })
    fixture.clock.advance(by: .seconds(1_000_000))
    fixture.store.core.sweep()
    try fixture.settle()
    #expect(Set(fixture.store.uploads.map(\.id)) == [kept.id, unknown.id])
  }

  @Test("an answer is kept for its time, a large one on disk")
  func answers() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed([1])
    #expect(upload.beginForward())
    let answer = UploadAnswer(status: 200, body: pattern(100_000), at: fixture.clock.wallSeconds())
    #expect(try fixture.step { upload.answer(answer, on: $0, then: $1) })
    fixture.clock.advance(by: .seconds(100))
    fixture.store.core.sweep()
    #expect(upload.state.withLock { $0.answer } == nil)
    #expect(upload.answer == answer)
    fixture.clock.advance(by: .seconds(3500))
    fixture.store.core.sweep()
    try fixture.settle()
    #expect(fixture.store.isTombstone(upload.id))
  }

  @Test("a promise without bytes lapses after a minute, and is made again with the next byte")
  func promises() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(10))
    #expect(fixture.store.reservedBytes == (256 << 10) - 10)
    fixture.clock.advance(by: .seconds(59))
    fixture.store.core.lookAfterRestless()
    #expect(fixture.store.reservedBytes == (256 << 10) - 10)
    fixture.clock.advance(by: .seconds(1))
    fixture.store.core.lookAfterRestless()
    #expect(fixture.store.reservedBytes == 0)
    #expect(writer.write(pattern(10)) == .written(unsynced: 20))
    #expect(fixture.store.reservedBytes == (256 << 10) - 10)
    writer.detach()
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("a file that nobody writes is closed")
  func closes() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write([1])
    try fixture.sync(upload)
    fixture.store.core.lookAfterRestless()
    #expect(upload.state.withLock { $0.descriptor != nil })
    writer.detach()
    fixture.store.core.lookAfterRestless()
    #expect(upload.state.withLock { $0.descriptor == nil })
    #expect(try fixture.writer(upload).write([2]) == .written(unsynced: 1))
  }
}
