import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Verified content") struct UploadWriterTests {
  private func begun(_ fixture: UploadFixture, displaced: @escaping () -> Void = {}) throws -> (
    SpooledUpload, UploadWriter
  ) {
    let upload = try fixture.create()
    let writer = try fixture.writer(upload, displaced: displaced)
    writer.write(pattern(100))
    #expect(try fixture.result { writer.beginVerified(then: $0) })
    writer.write(Array(pattern(180)[100...]))
    #expect(writer.offset == 180)
    return (upload, writer)
  }

  @Test("counts once it is accepted, and only then")
  func accepts() throws {
    let fixture = try UploadFixture()
    let (upload, writer) = try begun(fixture)
    #expect(try fixture.sync(upload) == 100)
    #expect(upload.status.offset == 100)
    #expect(writer.accept())
    #expect(try fixture.sync(upload) == 180)
    #expect(try fixture.contents(upload) == pattern(180))
    #expect(try fixture.cut().found(upload).status.offset == 180)
    #expect(try fixture.killed().found(upload).status.offset == 180)
  }

  @Test(
    "goes back when it is discarded, when its writer detaches, is let go of or displaced",
    arguments: ["discard", "detach", "takeover", "look"])
  func goesBack(_ how: String) throws {
    let fixture = try UploadFixture()
    let (upload, writer) = try begun(fixture)
    switch how {
    case "discard": writer.discard()
    case "detach": writer.detach()
    default: break
    }
    let next = try fixture.writer(upload, readOnly: how == "look")
    #expect(next.offset == 100)
    #expect(next.isCurrent && !writer.isCurrent)
    #expect(try !fixture.result { writer.beginVerified(then: $0) })
    #expect(writer.write([1]) == .displaced)
    #expect(!writer.accept())
    #expect(next.offset == 100)
    #expect(try Files.size(Files.open(fixture.path(upload), O_RDONLY), "") == 100)
    #expect(try fixture.sync(upload) == 100)
    #expect(fixture.store.usedBytes == 100)
    try fixture.settle()
    #expect(try fixture.killed().found(upload).status.offset == 100)
  }

  @Test("a writer that nobody holds any more ends by itself")
  func letGo() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    do {
      let writer = try fixture.writer(upload)
      writer.write(pattern(10))
    }
    #expect(upload.state.withLock { $0.hold.isVacant })
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("killed while it is verified, the upload goes back, in the same run of the kernel too")
  func killed() throws {
    let fixture = try UploadFixture()
    let (upload, _writer) = try begun(fixture)
    let killed = try fixture.killed()
    #expect(try killed.found(upload).status.offset == 100)
    #expect(try killed.contents(killed.found(upload)) == pattern(100))
    // The first 100 had not been synced: a power cut takes them.
    #expect(try fixture.cut().found(upload).status.offset == 0)
    withExtendedLifetime(_writer) {}
  }

  @Test("one that could not be recorded may not begin")
  func unrecorded() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    try fixture.withFailingCatalogue {
      let isBegun = try fixture.result { writer.beginVerified(then: $0) }
      #expect(!isBegun)
    }
    let next = try fixture.writer(upload)
    #expect(try !fixture.result { writer.beginVerified(then: $0) })
    #expect(try fixture.result { next.beginVerified(then: $0) })
    #expect(try !fixture.result { next.beginVerified(then: $0) })
  }

  @Test("goes to the disk as it comes, and counts no earlier for that")
  func syncedBehind() throws {
    let fixture = try UploadFixture()
    let (upload, writer) = try begun(fixture)
    let piece = pattern(1 << 20)
    for _ in 0..<8 { writer.write(piece) }
    try fixture.wait { writer.unsynced < 4 << 20 }
    guard case .written(let unsynced) = writer.write(piece) else { throw StoreError.dropped }
    #expect(unsynced < 5 << 20 && unsynced >= 1 << 20)
    // Who waits for the disk waits for what is being verified, too, and is told of what counts.
    #expect(try fixture.sync(upload) == 100)
    #expect(writer.unsynced == 0 && upload.status.offset == 100)
    #expect(try fixture.killed().found(upload).status.offset == 100)
    writer.accept()
    #expect(try fixture.sync(upload) == 180 + 9 << 20)
    #expect(try fixture.cut().found(upload).status.offset == 180 + 9 << 20)
  }

  @Test("who waits for the disk while it is discarded does not wait for ever")
  func discardedWhileSynced() throws {
    let fixture = try UploadFixture()
    let (upload, writer) = try begun(fixture)
    writer.write(pattern(3 << 20))
    var told: UInt64?
    upload.sync(on: fixture.loop) { if case .success(let offset) = $0 { told = offset } }
    writer.discard()
    let next = try fixture.writer(upload)
    #expect(next.offset == 100)
    fixture.loop.turn { told == nil }
    #expect(told == 100 && next.unsynced == 0)
    #expect(next.write([1]) == .written(unsynced: 1))
  }

  @Test("who takes over waits for what the pool has still to write, and is told of it")
  func overtakenInPool() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    let gate = Gate()
    for _ in 0..<4 { fixture.pool.run { _ = gate.wait() } }
    var results: [UploadWriteResult] = []
    #expect(writer.writeInPool(pattern(10)) { results.append($0) })
    var next: UploadWriter?
    upload.takeOver(on: fixture.loop, readOnly: true, displaced: {}) { next = $0 }
    #expect(next == nil && !writer.isCurrent)
    gate.open()
    fixture.loop.turn { next == nil || results.isEmpty }
    #expect(next?.offset == 10 && results == [.written(unsynced: 10)])
    #expect(try fixture.contents(upload) == pattern(10))
  }

  @Test("where nothing is synced nobody waits for it")
  func undurable() throws {
    let fixture = try UploadFixture { $0.isDurable = false }
    let (upload, writer) = try begun(fixture)
    #expect(writer.write(pattern(5 << 20)) == .written(unsynced: 0))
    #expect(try fixture.sync(upload) == 100)
  }

  @Test("is not complete before it is accepted")
  func completes() throws {
    let fixture = try UploadFixture()
    let (upload, writer) = try begun(fixture)
    #expect(try !fixture.step { upload.complete(on: $0, then: $1) })
    #expect(writer.accept())
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    #expect(upload.status.length == 180)
  }

  @Test("bytes that are taken back count no more, whatever the disk does with them meanwhile; others may come there")
  func goBack() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 1000)
    let writer = try fixture.writer(upload)
    writer.write([UInt8](repeating: 1, count: 600))
    try fixture.sync(upload)
    writer.expectEnd(at: 1000)
    writer.write([UInt8](repeating: 2, count: 400))
    upload.syncByItself()
    writer.goBack(to: 600)
    #expect(!writer.isCurrent && upload.status.offset == 600 && upload.expectedEnd == nil)
    #expect(try fixture.sync(upload) == 600)
    let next = try fixture.writer(upload)
    #expect(next.offset == 600 && fixture.store.usedBytes == 600)
    next.write([UInt8](repeating: 3, count: 400))
    #expect(try fixture.sync(upload) == 1000)
    #expect(try fixture.contents(upload) == [UInt8](repeating: 1, count: 600) + [UInt8](repeating: 3, count: 400))
  }

  @Test("bytes that were taken back do not come back with a crash")
  func goBackAndCrash() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 1000)
    let writer = try fixture.writer(upload)
    writer.write([UInt8](repeating: 1, count: 600))
    try fixture.sync(upload)
    writer.write([UInt8](repeating: 2, count: 400))
    try fixture.sync(upload)
    writer.goBack(to: 600)
    try fixture.sync(upload)
    for again in [try fixture.killed(), try fixture.cut()] {
      let found = try #require(again.store.find(upload.id))
      #expect(found.status.offset == 600 && found.status.phase == .open)
    }
  }
}
