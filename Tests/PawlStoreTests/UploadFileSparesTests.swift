import CLinux
import PawlLoop
import PawlUpload
import Testing

@testable import PawlStore

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
    try fixture.settle()
    #expect(!fixture.hasFile(first))
    #expect(spares(fixture).count == 1)
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
