import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Durability of uploads") struct UploadSyncTests {
  @Test("an offset that was told survives a power cut; what was not told is cut off")
  func told() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(1000))
    #expect(upload.status.offset == 0)
    #expect(try fixture.sync(upload) == 1000)
    #expect(upload.status.offset == 1000)
    writer.write(pattern(500))
    #expect(upload.status.offset == 1000)
    let cut = try fixture.cut()
    let again = try cut.found(upload)
    #expect(again.status.offset == 1000)
    #expect(try cut.writer(again).offset == 1000)
    #expect(try Files.size(Files.open(cut.path(again), O_RDONLY), "") == 1000)
  }

  @Test("a declared length is as durable as the offset told after it")
  func length() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    #expect(try fixture.sync(upload) == 0)
    #expect(upload.declare(length: 77))
    #expect(upload.declare(length: 77))
    #expect(!upload.declare(length: 78))
    #expect(try fixture.sync(upload) == 0)
    #expect(try fixture.cut().found(upload).status.length == 77)
  }

  @Test("a length below what came is refused")
  func shortLength() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    try fixture.writer(upload).write(pattern(5))
    #expect(!upload.declare(length: 4))
    #expect(upload.declare(length: 5))
  }

  @Test("syncs by itself every 4 MiB and tells its observers")
  func byItself() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    var changes = 0
    let observation = upload.observe(on: fixture.loop) { changes += 1 }
    let writer = try fixture.writer(upload)
    let piece = pattern(1 << 20)
    for _ in 0..<4 { writer.write(piece) }
    fixture.loop.turn { changes == 0 }
    #expect(upload.status.offset == 4 << 20)
    observation.cancel()
    #expect(upload.state.withLock { $0.observers.isEmpty })
  }

  @Test("what came is synced within a second or so without anybody asking")
  func everySecond() throws {
    let fixture = try UploadFixture()
    let uploads = try (0..<40).map { _ in try fixture.create() }
    let writers = try uploads.map { try fixture.writer($0) }
    for writer in writers { writer.write(pattern(100)) }
    fixture.store.core.lookAfterRestless()
    try fixture.wait { uploads.allSatisfy { $0.status.offset == 100 } }
  }

  @Test("after a failed sync nothing counts but what was synced before, and whoever wrote has to come again")
  func failedSync() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    var isDisplaced = false
    let writer = try fixture.writer(upload) { isDisplaced = true }
    writer.write(pattern(100))
    #expect(try fixture.sync(upload) == 100)
    writer.write(pattern(50))
    var ends: [CInt] = [-1, -1]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    let pipe = UploadDescriptor(adopting: ends[1], fixture.store.core, upload.charge)
    upload.state.withLock { $0.descriptor = pipe }
    #expect(throws: StoreError.self) { try fixture.sync(upload) }
    fixture.loop.turn { !isDisplaced }
    #expect(writer.write([1]) == .displaced)
    #expect(fixture.logged("upload-sync-failed").count == 1)
    #expect(upload.status.offset == 100)
    let next = try fixture.writer(upload)
    #expect(next.offset == 100)
    next.write(Array(pattern(120)[100...]))
    #expect(try fixture.sync(upload) == 120)
    #expect(try fixture.contents(upload) == pattern(120))
    #expect(fixture.store.usedBytes == 120)
  }

  @Test("killed right after a failed sync, the lost bytes do not count by the size of the file")
  func killedAfterFailedSync() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    try fixture.sync(upload)
    writer.write(pattern(50))
    upload.state.withLock { state in
      // As if the pool never came to cut the file.
      _ = state.hold.nextStep(.init(cut: 100))
      (state.written, state.row.verifying) = (100, 100)
    }
    fixture.store.core.noteDirty(upload)
    fixture.store.flush()
    #expect(try fixture.killed().found(upload).status.offset == 100)
    let isSettled = upload.state.withLock { $0.hold.settled() }
    #expect(isSettled)
  }

  @Test("where the catalogue fails, no offset is told, nothing is lost, and it is tried again")
  func failingCatalogue() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    try fixture.withFailingCatalogue {
      #expect(throws: StoreError.self) { try fixture.sync(upload) }
      #expect(upload.status.offset == 0)
      #expect(writer.write(pattern(20)) == .written(unsynced: 120))
    }
    #expect(try fixture.sync(upload) == 120)
    #expect(try fixture.cut().found(upload).status.offset == 120)
  }

  @Test("with durability none the offset is recorded without a sync")
  func notDurable() throws {
    let fixture = try UploadFixture { $0.isDurable = false }
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    #expect(try fixture.sync(upload) == 100)
    writer.write(pattern(20))
    #expect(try fixture.killed().found(upload).status.offset == 120)
  }
}
