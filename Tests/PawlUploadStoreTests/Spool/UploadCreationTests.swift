import CLinux
import PawlBase
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("New uploads") struct UploadCreationTests {
  @Test("are measured against the spool and the share of one client")
  func limits() throws {
    let fixture = try UploadFixture { settings in
      (settings.maxSize, settings.maxUploadsPerClient, settings.maxSharePerClient) = (1000, 2, 50)
    }
    let (me, you) = (fixture.origin("me"), fixture.origin("you"))
    #expect(fixture.store.largestUpload == 500)
    #expect(try fixture.tryCreate(.make(), me, length: 501).failure == .tooLarge)
    #expect(try fixture.tryCreate(.make(), nil, length: 1001).failure == .tooLarge)
    let upload = try fixture.create(me, length: 500)
    let writer = try fixture.writer(upload)
    #expect(writer.write(pattern(300)) == .written(unsynced: 300))
    writer.detach()
    // A declared length locks nothing; what came counts.
    #expect(try fixture.tryCreate(.make(), me, length: 201).failure == .clientShare)
    let second = try fixture.create(me, length: 200)
    #expect(try fixture.tryCreate(.make(), me, length: 1).failure == .tooManyUploads)
    let secondWriter = try fixture.writer(second)
    #expect(secondWriter.write(pattern(200)) == .written(unsynced: 200))
    #expect(try fixture.writer(upload).write(pattern(1)) == .full)
    #expect(try fixture.tryCreate(.make(), you, length: 500).failure == nil)
    #expect(try fixture.step { second.complete(on: $0, then: $1) })
    #expect(try fixture.step { upload.remove(on: $0, then: $1) })
    try fixture.settle()
    #expect(try fixture.tryCreate(.make(), me, length: 300).failure == nil)
    #expect(try fixture.tryCreate(.make(), you, length: 400).failure == nil)
  }

  @Test("are counted again after a restart")
  func recovered() throws {
    let fixture = try UploadFixture { $0.maxUploadsPerClient = 1 }
    let upload = try fixture.create(fixture.origin("me"))
    try fixture.writer(upload).write(pattern(10))
    let next = try UploadFixture(in: try fixture.directory.copy()) { $0.maxUploadsPerClient = 1 }
    #expect(try next.tryCreate(.make(), next.origin("me")).failure == .tooManyUploads)
    let again = try next.found(upload)
    #expect(try next.step { again.remove(on: $0, then: $1) })
    #expect(try next.tryCreate(.make(), next.origin("me")).failure == nil)
  }

  @Test("a name is given once, and not again after its upload is gone")
  func names() throws {
    let fixture = try UploadFixture()
    let upload = try fixture.create()
    #expect(try fixture.tryCreate(upload.id).failure == .failed(.dropped))
    #expect(fixture.store.find(upload.id) === upload)
    #expect(fixture.hasFile(upload))
    #expect(try fixture.step { upload.remove(on: $0, then: $1) })
    #expect(try fixture.tryCreate(upload.id).failure == .failed(.dropped))
  }

  @Test("made of parts: their bytes in order, durable, and the parts stay")
  func concatenates() throws {
    let fixture = try UploadFixture()
    let sizes = [0, 1, 3_000_000, 70_000]
    let parts = try sizes.enumerated().map { index, size in
      let upload = try fixture.create(fixture.origin("me", isTus: true, part: .partial), length: UInt64(size))
      try fixture.writer(upload).write(pattern(size, seed: UInt64(index + 1)))
      return upload
    }
    let made = try fixture.result {
      fixture.store.concatenate(
        .make(), fixture.origin("me", isTus: true, part: .final), parts: parts, on: fixture.loop, then: $0)
    }.get()
    let whole = sizes.enumerated().flatMap { pattern($1, seed: UInt64($0 + 1)) }
    #expect(made.status.phase == .complete && made.status.isConcatFinal)
    #expect(made.status.length == UInt64(whole.count) && made.status.offset == UInt64(whole.count))
    #expect(try fixture.contents(made) == whole)
    #expect(fixture.store.usedBytes == UInt64(2 * whole.count))
    let cut = try fixture.cut()
    #expect(try cut.contents(cut.found(made)) == whole)
    #expect(made.beginForward())
    #expect(parts.allSatisfy { fixture.hasFile($0) })
  }

  @Test("made of parts that went while they were copied: of their own bytes, whoever came after them")
  func removedParts() throws {
    let fixture = try UploadFixture()
    let part = try fixture.part(pattern(1000))
    let held = try part.openFile()
    #expect(try fixture.step { part.remove(on: $0, then: $1) })
    try fixture.settle()
    let other = try fixture.part(pattern(1000, seed: 7), of: "other")
    let copy = OwnedDescriptor(adopting: try Files.open(fixture.directory.path + "/copy", O_RDWR | O_CREAT))
    try UploadFile.copy(held.raw, to: copy.raw, at: 0, count: 1000)
    withExtendedLifetime(held) {}
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(copy.raw, &bytes, 1000, 0) == 1000 && bytes == pattern(1000))
    #expect(try fixture.contents(other) == pattern(1000, seed: 7))
    #expect(try fixture.join([part]).failure == .failed(.dropped))
  }

  @Test("is not sent before it is whole and on record")
  func notBefore() throws {
    let fixture = try UploadFixture()
    var row = UploadRow(at: fixture.clock.wallSeconds(), phase: .complete)
    (row.offset, row.length) = (0, 0)
    let id = ObjectID.make()
    let isBegun = Locked(true)
    let made: UploadStore.Created = try fixture.result { then in
      let reply = LoopReply(on: fixture.loop, then)
      fixture.store.core.make(
        id, fixture.origin(), row, kept: 0, durably: true,
        fill: { _, upload in isBegun.withLock { $0 = upload.beginForward() } }, then: { reply.send($0) })
    }
    #expect(!isBegun.withLock { $0 })
    #expect(try made.get().beginForward())
  }

  @Test("not of unfinished or removed parts, nor where there is no room; nothing is left then")
  func refusesParts() throws {
    let fixture = try UploadFixture { $0.maxSize = 1500 }
    let part = try fixture.create(fixture.origin(isTus: true, part: .partial), length: 1000)
    let writer = try fixture.writer(part)
    writer.write(pattern(999))
    func join() throws -> UploadStore.Created {
      try fixture.result {
        fixture.store.concatenate(.make(), fixture.origin(), parts: [part], on: fixture.loop, then: $0)
      }
    }
    #expect(try join().failure == .failed(.dropped))
    writer.write([1])
    writer.detach()
    #expect(try join().failure == .full)
    #expect(try fixture.step { part.remove(on: $0, then: $1) })
    #expect(try join().failure == .failed(.dropped))
    try fixture.settle()
    #expect(fixture.store.usedBytes == 0 && fixture.store.reservedBytes == 0)
    #expect(TestDirectory.entries(fixture.directory.path + "/spool/bodies") == [])
  }

  @Test("the same name twice costs a client's account nothing, nor does a concatenation that fails half way")
  func accountsOfConcatenations() throws {
    let fixture = try UploadFixture { settings in
      (settings.maxSize, settings.maxUploadsPerClient, settings.maxSharePerClient) = (10_000, 2, 100)
    }
    let me = fixture.origin("me", isTus: true, part: .partial)
    let part = try fixture.part(pattern(2000))
    let id = ObjectID.make()
    let made = try fixture.join([part], as: id).get()
    for _ in 0..<4 { #expect(try fixture.join([part], as: id).failure == .failed(.dropped)) }
    truncate(fixture.path(made), 1000)
    #expect(try fixture.join([part, made]).failure != nil)
    #expect(fixture.store.usedBytes == 4000 && fixture.store.reservedBytes == 0)
    for _ in 0..<2 { _ = try fixture.create(me) }
    #expect(try fixture.tryCreate(.make(), me).failure == .tooManyUploads)
    // 4000 of 10,000 are taken.
    #expect(fixture.store.core.budget.promise(Array("me".utf8), upTo: 10_000) == 6000)
  }

  @Test("parts that are whole are not open uploads, nor is what they are made into; after a restart, too")
  func wholePartsAreNotOpen() throws {
    let fixture = try UploadFixture { $0.maxUploadsPerClient = 2 }
    let parts = try (0..<5).map { try fixture.part(pattern(10, seed: $0)) }
    let open = try (0..<2).map { _ in try fixture.create(fixture.origin("me")) }
    #expect(try fixture.tryCreate(.make(), fixture.origin("me")).failure == .tooManyUploads)
    #expect(try fixture.join(parts).failure == nil)
    for upload in open { #expect(try fixture.step { upload.remove(on: $0, then: $1) }) }
    for part in parts { #expect(try fixture.step { part.remove(on: $0, then: $1) }) }
    _ = try fixture.part([1])
    fixture.store.flush()
    let next = try UploadFixture(in: try fixture.directory.copy()) { $0.maxUploadsPerClient = 2 }
    for _ in 0..<2 { _ = try next.create(next.origin("me")) }
    #expect(try next.tryCreate(.make(), next.origin("me")).failure == .tooManyUploads)
  }

  @Test("made of parts they need no second share, and both are given back")
  func shareOfParts() throws {
    let fixture = try UploadFixture { ($0.maxSize, $0.maxSharePerClient) = (10_000, 30) }
    let part = try fixture.part(pattern(2900))
    let made = try fixture.join([part]).get()
    #expect(try fixture.join([part]).failure == .clientShare)
    #expect(try fixture.tryCreate(.make(), fixture.origin("me"), length: 1).failure == .clientShare)
    try fixture.answer(made)
    #expect(try fixture.step { part.remove(on: $0, then: $1) })
    #expect(fixture.store.usedBytes == 0)
    #expect(try fixture.tryCreate(.make(), fixture.origin("me"), length: 3000).failure == nil)
  }

  @Test("copying parts keeps nobody else waiting")
  func longJobs() throws {
    let fixture = try UploadFixture()
    let part = try fixture.part(pattern(10))
    let isHeld = DispatchedResult()
    fixture.longJobs.run { _ = isHeld.wait() }
    var made: UploadStore.Created?
    fixture.store.concatenate(
      .make(), fixture.origin(isTus: true, part: .final), parts: [part], on: fixture.loop, then: { made = $0 })
    let other = try fixture.completed(pattern(20))
    #expect(try fixture.contents(other) == pattern(20))
    #expect(made == nil)
    isHeld.set(true)
    fixture.loop.turn { made == nil }
    #expect(try fixture.contents(#require(try made?.get())) == pattern(10))
  }
}
