import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Upload store") struct UploadStoreTests {
  @Test("gives back what it was given after a clean end")
  func reopens() throws {
    let directory = TestDirectory()
    let bytes = pattern(300_000)
    let id: ObjectID
    do {
      let fixture = try UploadFixture(in: directory)
      var origin = fixture.origin("me", isTus: true)
      (origin.metadata, origin.concat) = (Array("filename YQ==".utf8), Array("partial".utf8))
      let upload = try fixture.create(origin, length: 400_000)
      id = upload.id
      let writer = try fixture.writer(upload)
      #expect(writer.write(bytes) == .written(unsynced: 300_000))
      // Nobody asked for a sync: the end does it.
    }
    // Even after another boot: the end made it durable.
    let fixture = try UploadFixture(in: directory, boot: ObjectID(high: 9, low: 9))
    let upload = try #require(fixture.store.find(id))
    #expect(upload.status.offset == 300_000)
    #expect(upload.status.length == 400_000)
    #expect(upload.status.phase == .open)
    #expect(upload.status.metadata == Array("filename YQ==".utf8))
    #expect(upload.origin.head == fixture.origin().head)
    #expect(try fixture.contents(upload).prefix(300_000) == bytes[...])
    #expect(fixture.store.usedBytes == 300_000)
    #expect(fixture.store.reservedBytes == 0)
  }

  @Test("handed over: the other process has all that was written, and no request here adds or cuts a byte any more")
  func handsOver() throws {
    let old = try UploadFixture()
    let upload = try old.create(length: 400_000)
    let writer = try old.writer(upload)
    #expect(writer.write(pattern(300_000)) == .written(unsynced: 300_000))
    #expect(old.store.isBeingWritten)
    old.store.handOver()
    let new = try UploadFixture(in: old.directory)
    let taken = try #require(new.store.find(upload.id))
    #expect(taken.status.offset == 300_000)
    #expect(writer.write(pattern(10)) == .displaced)
    writer.goBack(to: 100_000)
    writer.detach()
    #expect(try new.contents(taken).prefix(300_000) == pattern(300_000)[...])
    let path = new.path(taken)
    try old.settle()
    #expect(access(path, F_OK) == 0)
  }

  @Test("keeps a second process out")
  func locks() throws {
    let fixture = try UploadFixture()
    #expect(throws: StoreError.inUse(path: fixture.directory.path + "/spool")) {
      try UploadFixture(in: fixture.directory)
    }
  }

  @Test("makes files 0600 and directories 0700")
  func modes() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    var status = stat()
    for path in [fixture.path(upload), UploadCatalogue.path(in: fixture.directory.path + "/spool")] {
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(path)")
    }
    #expect(stat(fixture.directory.path + "/spool/bodies", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("takes 10 % of the file system unless told otherwise, 1 GiB at the least, and keeps some free")
  func sizes() throws {
    let fixture = try UploadFixture { settings in (settings.maxSize, settings.minFree) = (nil, nil) }
    let total = try Files.space(of: fixture.directory.path).total
    #expect(fixture.store.capacity == max(total / 10, 1 << 30))
    #expect(fixture.store.core.budget.disk.minFree == min(256 << 20, total / 20))
    #expect(fixture.store.largestUpload == fixture.store.capacity / 100 * 25)
  }

  @Test("what comes after the end is answered, not lost")
  func afterTheEnd() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(10))
    fixture.store.close()
    fixture.pool.stop()
    writer.write(pattern(10))
    #expect(throws: StoreError.self) { try fixture.sync(upload) }
    #expect(try !fixture.step { upload.complete(on: $0, then: $1) })
    #expect(try !fixture.step { upload.remove(on: $0, then: $1) })
    #expect(throws: UploadStoreRefusal.self) { try fixture.create() }
    let body = try fixture.result { upload.openBody(on: fixture.loop, then: $0) }
    #expect(throws: StoreError.self) { try body.get() }
    let late = try fixture.writer(upload)
    #expect(late.write(pattern(1)) != .written(unsynced: 1))
  }

  @Test("takes other settings while it is open, for the uploads that it has, too")
  func changed() throws {
    let fixture = try UploadFixture { $0.expireAfter = .seconds(60) }
    let upload = try fixture.create(fixture.origin("me"))
    let total = try Files.space(of: fixture.directory.path).total
    var settings = fixture.store.settings
    (settings.maxSize, settings.isDurable, settings.expireAfter) = (nil, false, .seconds(9))
    (settings.maxSharePerClient, settings.maxUploadsPerClient) = (100, 1)
    fixture.store.change(to: settings)
    #expect(fixture.store.capacity == max(total / 10, 1 << 30) && fixture.store.largestUpload == fixture.store.capacity)
    #expect(fixture.store.settings == settings && !fixture.store.core.isDurable)
    #expect(fixture.store.expireAfter == .seconds(9))
    #expect(throws: UploadStoreRefusal.tooManyUploads) { try fixture.create(fixture.origin("me")) }
    #expect(fixture.store.find(upload.id) === upload)
  }
}
