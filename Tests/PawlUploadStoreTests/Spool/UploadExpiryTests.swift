import PawlHTTP
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

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

  @Test("a file that nobody has written to for two seconds is closed")
  func closes() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write([1])
    try fixture.sync(upload)
    fixture.clock.advance(by: .seconds(2))
    fixture.store.core.lookAfterRestless()
    #expect(upload.state.withLock { $0.descriptor != nil })
    writer.write([2])
    try fixture.sync(upload)
    writer.detach()
    fixture.store.core.lookAfterRestless()
    #expect(upload.state.withLock { $0.descriptor != nil })
    fixture.clock.advance(by: .seconds(2))
    fixture.store.core.lookAfterRestless()
    #expect(upload.state.withLock { $0.descriptor == nil })
    #expect(try fixture.writer(upload).write([3]) == .written(unsynced: 1))
  }

  @Test("a wall clock set forward collects nothing that came, was answered or was there a moment ago")
  func clockSetForward() throws {
    let before = try UploadFixture { $0.expireAfter = .seconds(7200) }
    let old = try before.create()
    try before.writer(old).write([1])
    try before.sync(old)
    before.clock.advance(by: .seconds(3600))
    before.store.flush()
    let fixture = try UploadFixture(in: try before.directory.copy(), clock: before.clock) {
      $0.expireAfter = .seconds(7200)
    }
    let (written, idle, answered, given) = (
      try fixture.create(), try fixture.create(), try fixture.completed([1]), try fixture.completed([2])
    )
    let writer = try fixture.writer(written)
    writer.write([1])
    try fixture.answer(answered, keepFor: .seconds(100))
    given.giveUpAt = fixture.clock.wallSeconds() + 100
    fixture.clock.advanceWall(bySeconds: 30 * 86_400)
    try fixture.sweep()
    #expect(Set(fixture.store.uploads.map(\.id)) == Set([old, written, idle, answered, given].map(\.id)))
    fixture.clock.advance(by: .seconds(3600))
    try fixture.sweep()
    #expect(Set(fixture.store.uploads.map(\.id)) == [written.id, idle.id])
    fixture.clock.advance(by: .seconds(3600))
    try fixture.sweep()
    // The other one still has its writer.
    #expect(fixture.store.uploads.map(\.id) == [written.id])
    writer.detach()
    try fixture.sweep()
    #expect(fixture.store.uploads.isEmpty)
  }

  @Test("what expired while pawl was not there can be resumed for an hour after its start")
  func startGrace() throws {
    let before = try UploadFixture()
    let upload = try before.create()
    before.store.flush()
    before.clock.advance(by: .seconds(100_000))
    let fixture = try before.killed()
    for (step, isThere) in [(0, true), (3599, true), (1, false)] {
      fixture.clock.advance(by: .seconds(step))
      try fixture.sweep()
      #expect((fixture.store.find(upload.id) != nil) == isThere)
    }
  }

  @Test("parts go five minutes after their whole was answered; after a restart, too", arguments: [false, true])
  func usedParts(_ restarts: Bool) throws {
    var fixture = try UploadFixture()
    let (part, other) = (try fixture.part(pattern(10)), try fixture.part(pattern(10)))
    var made = try fixture.join([part, part]).get()
    if restarts {
      fixture.store.flush()
      fixture = try fixture.killed()
      made = try fixture.found(made)
    }
    fixture.clock.advance(by: .seconds(1000))
    try fixture.sweep()
    try fixture.answer(made)
    #expect(try fixture.found(part).status.expires == fixture.clock.wallSeconds() + 300)
    for (step, isThere) in [(299, true), (1, false)] {
      fixture.clock.advance(by: .seconds(step))
      try fixture.sweep()
      #expect((fixture.store.find(part.id) != nil) == isThere)
    }
    #expect(fixture.store.find(other.id) != nil)
  }

  @Test("of too many answered uploads those go first whose answer was delivered, then the oldest; and old tombstones")
  func tooManyAnswered() throws {
    let fixture = try UploadFixture { ($0.maxAnswered, $0.maxTombstones) = (2, 1) }
    let uploads = try (0..<4).map { index in
      let upload = try fixture.completed([1])
      try fixture.answer(upload)
      if index == 1 || index == 3 { upload.noteAnswerDelivered() }
      fixture.clock.advance(by: .seconds(1))
      return upload
    }
    try fixture.sweep()
    #expect(Set(fixture.store.uploads.map(\.id)) == [uploads[0].id, uploads[2].id])
    fixture.clock.advance(by: .seconds(1))
    _ = try fixture.step { uploads[0].remove(on: $0, then: $1) }
    try fixture.sweep()
    #expect(fixture.store.isTombstone(uploads[0].id))
    #expect(!fixture.store.isTombstone(uploads[1].id) && !fixture.store.isTombstone(uploads[3].id))
    #expect(fixture.store.uploads.map(\.id) == [uploads[2].id])
  }

  @Test("an answered upload keeps in memory what says who may ask, and its answer is read again")
  func answeredInMemory() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed([1], fixture.origin("me"))
    var fields = Fields()
    fields.append(.cookie, "a=b")
    upload.refreshCredentials(fields)
    #expect(upload.askers == [])
    try fixture.answer(upload, body: [1, 2, 3], askers: [[4], [5]])
    #expect(upload.credentials == nil)
    upload.refreshCredentials(fields)
    upload.noteAnswerDelivered()
    try fixture.sweep()
    let next = try fixture.killed()
    for upload in [upload, try next.found(upload)] {
      #expect(upload.state.withLock { $0.answer } == nil)
      #expect(upload.origin.head.fields.count == 0 && upload.credentials == nil)
      #expect(upload.origin.head.target == Bytes("/files/a") && upload.origin.client == Array("me".utf8))
      #expect(upload.answer?.body == [1, 2, 3] && upload.askers == [[4], [5]])
    }
  }
}
