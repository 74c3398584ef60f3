import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("What a start makes of what was left") struct UploadRecoveryTests {
  @Test("after kill -9 every byte that was written counts, synced or not")
  func killed() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    try fixture.sync(upload)
    writer.write(Array(pattern(250)[100...]))
    let killed = try fixture.killed()
    let again = try killed.found(upload)
    #expect(again.status.offset == 250)
    #expect(killed.store.usedBytes == 250)
    let next = try killed.writer(again)
    next.write(Array(pattern(300)[250...]))
    #expect(try killed.step { again.complete(on: $0, then: $1) })
    #expect(try killed.contents(again) == pattern(300))
  }

  @Test(
    "a body whose last byte arrived is complete, whoever died",
    arguments: [
      ("IETF", false, 100, true), ("tus", true, 100, true), ("IETF", false, 99, false), ("tus", true, 99, false),
    ])
  func lastByte(_ name: String, _ isTus: Bool, _ count: Int, _ isComplete: Bool) throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(
      fixture.origin(isTus: isTus), length: isTus ? 100 : nil, finalAt: isTus ? nil : 100)
    let writer = try fixture.writer(upload)
    writer.write(pattern(count))
    let killed = try fixture.killed()
    let again = try killed.found(upload)
    #expect(again.status.phase == (isComplete ? .complete : .open))
    #expect(again.status.length == (isComplete || isTus ? 100 : nil))
    withExtendedLifetime(writer) {}
  }

  @Test("the end that one request expected is not expected of the next")
  func expectation() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(length: 100)
    let writer = try fixture.writer(upload)
    writer.expectEnd(at: 100)
    writer.write(pattern(50))
    fixture.store.flush()
    let next = try fixture.writer(upload)
    next.write(pattern(50))
    try fixture.sync(upload)
    #expect(try fixture.killed().found(upload).status.phase == .open)
    next.expectEnd(at: 100)
    fixture.store.flush()
    #expect(try fixture.killed().found(upload).status.phase == .complete)
  }

  @Test("an upload made for a 104 survives kill -9, one made for a 201 a power cut")
  func creation() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create(durably: false)
    #expect(try fixture.killed().found(upload).status.offset == 0)
    // The row came through with another's commit, the file's name did not.
    let copy = try fixture.directory.copy()
    unlink("\(copy.path)/spool/bodies/\(upload.id.hex)")
    let cut = try UploadFixture(in: copy, boot: ObjectID(high: 3, low: 3))
    let again = try cut.found(upload)
    #expect(again.status.phase == .open)
    #expect(try cut.writer(again).write([1]) == .written(unsynced: 1))
  }

  @Test("files that no upload has go; uploads without their file are invalid, and that is an error")
  func orphans() throws {
    let fixture = try UploadFixture()
    let (upload, whole, sent) = (
      try fixture.create(), try fixture.completed(pattern(10)), try fixture.completed(pattern(10))
    )
    #expect(sent.beginForward())
    #expect(try fixture.step { sent.journalSent(on: $0, then: $1) })
    let copy = try fixture.directory.copy()
    let bodies = copy.path + "/spool/bodies/"
    for lost in [upload, whole, sent] { unlink(bodies + lost.id.hex) }
    try TestDirectory.write([1, 2, 3], to: bodies + ObjectID.make().hex)
    let next = try UploadFixture(in: copy)
    #expect(TestDirectory.entries(bodies) == [])
    #expect(next.logged("upload-file-dropped").count == 1)
    #expect(next.logged("upload-invalid").count == 3)
    #expect(next.logged("upload-invalid").allSatisfy { $0.contains("error") })
    #expect(try next.found(upload).status.phase == .invalid)
    #expect(try next.found(whole).status.phase == .invalid)
    // Never forgotten: it may be at the origin.
    #expect(try next.found(sent).status.phase == .sent)
  }

  @Test("a file shorter than what was told of it makes the upload invalid")
  func short() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    try fixture.sync(upload)
    let copy = try fixture.directory.copy()
    #expect(truncate(copy.path + "/spool/bodies/" + upload.id.hex, 99) == 0)
    #expect(try UploadFixture(in: copy).found(upload).status.phase == .invalid)
  }

  @Test("a corrupt catalogue is moved aside together with the bodies")
  func corrupt() throws {
    let fixture = try UploadFixture()
    _ = try fixture.completed(pattern(100))
    fixture.store.close()
    let path = fixture.directory.path + "/spool"
    try TestDirectory.write(pattern(5000), to: path + "/uploads.sqlite")
    let next = try UploadFixture(in: fixture.directory)
    #expect(next.store.uploads.isEmpty)
    #expect(next.logged("catalogue-moved-aside").count == 1)
    #expect(TestDirectory.entries(path + "/bodies.bad-1").count == 1)
  }

  @Test("bodies whose catalogue is missing are moved aside, each time")
  func missing() throws {
    var fixture = try UploadFixture()
    let path = fixture.directory.path + "/spool"
    for number in 1...2 {
      _ = try fixture.completed(pattern(100))
      fixture.store.close()
      for suffix in ["", "-wal", "-shm"] { unlink(UploadCatalogue.path(in: path) + suffix) }
      fixture = try UploadFixture(in: fixture.directory)
      #expect(fixture.store.uploads.isEmpty)
      #expect(fixture.logged("upload-files-moved-aside").count == 1)
      #expect(TestDirectory.entries(path + "/bodies.bad-\(number)").count == 1)
    }
  }

  @Test("a spool of another version is not opened, and nothing of it is touched")
  func otherVersion() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.completed(pattern(100))
    fixture.store.close()
    let path = UploadCatalogue.path(in: fixture.directory.path + "/spool")
    try Database(path: path, isReader: false).execute("PRAGMA user_version = 99")
    #expect(throws: StoreError.self) { try UploadFixture(in: fixture.directory) }
    #expect(fixture.hasFile(upload))
  }

  @Test("the kernel names its run") func boot() throws {
    #expect(try KernelRun.runningBoot() == KernelRun.runningBoot())
  }
}
