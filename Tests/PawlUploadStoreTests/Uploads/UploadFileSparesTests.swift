import CLinux
import PawlDisk
import PawlLoop
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("Files that are used again") struct UploadFileSparesTests {
  private func status(_ path: String) throws -> stat {
    var found = stat()
    try #require(stat(path, &found) == 0)
    return found
  }

  private func spares(_ fixture: UploadFixture) -> [String] {
    TestDirectory.entries(fixture.directory.path + "/spool/spares")
  }

  @Test("the file of an upload that was answered becomes the next one's, empty, for its owner only")
  func usedAgain() throws {
    let fixture = try UploadFixture()
    let first = try fixture.completed(pattern(1000))
    let inode = try status(fixture.path(first)).st_ino
    try fixture.answer(first)
    try fixture.wait { !fixture.hasFile(first) && spares(fixture).count == 1 }
    let next = try fixture.create()
    let found = try status(fixture.path(next))
    #expect(found.st_ino == inode && found.st_size == 0 && found.st_mode & 0o777 == 0o600)
    #expect(spares(fixture) == [])
    try fixture.writer(next).write(pattern(10))
    #expect(try fixture.step { next.complete(on: $0, then: $1) })
    #expect(try fixture.contents(next) == pattern(10))
    #expect(fixture.store.usedBytes == 10)
  }

  @Test("not while somebody has it open, who reads what was in it")
  func notWhileOpen() throws {
    let fixture = try UploadFixture()
    let first = try fixture.completed(pattern(1000))
    let inode = try status(fixture.path(first)).st_ino
    let body = try fixture.result { first.openBody(on: fixture.loop, then: $0) }.get()
    #expect(try fixture.step { first.remove(on: $0, then: $1) })
    try fixture.settle()
    let next = try fixture.create()
    #expect(try status(fixture.path(next)).st_ino != inode)
    try fixture.writer(next).write(pattern(500))
    var bytes = [UInt8](repeating: 0, count: 1000)
    #expect(pread(body.fd, &bytes, 1000, 0) == 1000)
    #expect(bytes == pattern(1000))
    withExtendedLifetime(body) {}
  }

  /// What nobody has written to for a while is closed.
  private func rest(_ fixture: UploadFixture) throws {
    fixture.clock.advance(by: .seconds(10))
    try fixture.wait {
      fixture.store.core.lookAfterRestless()
      return fixture.store.uploads.allSatisfy { $0.state.withLock { $0.descriptor == nil } }
    }
  }

  /// As ``rest(_:)``, where somebody holds what is open.
  private func restInVain(_ fixture: UploadFixture) throws {
    for _ in 0..<3 {
      fixture.clock.advance(by: .seconds(10))
      fixture.store.core.lookAfterRestless()
      try fixture.settle()
    }
  }

  private func bytes(_ body: UploadBody) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(body.count))
    let count = withExtendedLifetime(body) { pread(body.fd, &bytes, bytes.count, 0) }
    return Array(bytes.prefix(max(0, count)))
  }

  @Test("not while somebody reads it who opened it, though others opened and closed it since")
  func notWhileRead() throws {
    let fixture = try UploadFixture()
    let first = try fixture.create(length: 2000)
    try fixture.writer(first).write(pattern(1000))
    try fixture.sync(first)
    try rest(fixture)
    let inode = try status(fixture.path(first)).st_ino
    let body = try fixture.result { first.openBody(on: fixture.loop, then: $0) }.get()
    try restInVain(fixture)
    try fixture.writer(first).write(pattern(10))
    #expect(try fixture.step { first.remove(on: $0, then: $1) })
    try fixture.settle()
    let next = try fixture.create()
    #expect(try status(fixture.path(next)).st_ino != inode)
    try fixture.writer(next).write(pattern(1000, seed: 7))
    #expect(Array(bytes(body).prefix(1000)) == pattern(1000))
    withExtendedLifetime(body) {}
  }

  @Test("once its last reader has let go of it, but never one that was opened anew after a failed sync")
  func afterTheLast() throws {
    for isOpenTwice in [false, true] {
      let fixture = try UploadFixture()
      let first = try fixture.completed(pattern(1000))
      if isOpenTwice { first.state.withLock { $0.file.wasReopened() } }
      try answerWhileRead(first, fixture)
      try fixture.wait { spares(fixture).count == (isOpenTwice ? 0 : 1) && !fixture.hasFile(first) }
    }
  }

  private func answerWhileRead(_ upload: SpooledUpload, _ fixture: UploadFixture) throws {
    let body = try fixture.result { upload.openBody(on: fixture.loop, then: $0) }.get()
    try fixture.answer(upload)
    try fixture.settle()
    #expect(spares(fixture) == [])
    #expect(bytes(body) == pattern(1000))
  }

  @Test("a file whose upload went while it was opened is not read")
  func goneWhileOpened() throws {
    let fixture = try UploadFixture()
    let first = try fixture.completed(pattern(1000))
    try rest(fixture)
    let path = fixture.path(first)
    #expect(try fixture.step { first.remove(on: $0, then: $1) })
    try fixture.settle()
    // As another thread finds it that looked the name up before.
    try TestDirectory.write(pattern(1000, seed: 7), to: path)
    #expect(throws: StoreError.dropped) { try first.openFile() }
    unlink(path)
  }

  @Test("what a killed process leaves of them is dropped, and nothing stays at an orderly end")
  func leftovers() throws {
    let fixture = try UploadFixture()
    let first = try fixture.completed(pattern(1000))
    try fixture.answer(first)
    try fixture.settle()
    let killed = try fixture.killed()
    #expect(spares(killed) == [])
    #expect(try killed.found(first).status.phase == .answered)
    #expect(spares(fixture).count == 1)
    fixture.store.close()
    #expect(spares(fixture) == [])
  }

  @Test("one that cannot take its name is given up, and a new one is made")
  func nameTaken() throws {
    let fixture = try UploadFixture()
    try fixture.answer(try fixture.completed(pattern(10)))
    try fixture.settle()
    let (path, spares) = (fixture.directory.path + "/taken", fixture.store.core.spares)
    try TestDirectory.write([1], to: path)
    #expect(throws: StoreError.system(call: "open", path: path, errno: EEXIST)) { try spares.file(called: path) }
    #expect(self.spares(fixture) == [])
    #expect(try status(path).st_size == 1)
    unlink(path)
    let made = OwnedDescriptor(adopting: try spares.file(called: path))
    #expect(made.raw >= 0)
    #expect(try status(path).st_size == 0)
  }
}
