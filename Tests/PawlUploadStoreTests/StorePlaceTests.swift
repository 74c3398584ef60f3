import CLinux
import PawlDisk
import PawlLoop
import PawlObserve
import PawlStoreTestKit
import Testing

@testable import PawlUploadStore

@Suite("Directories that are moved while they are open") struct StorePlaceTests {
  @Test("a spool goes on where it was moved to, with what it has and what is new")
  func spool() throws {
    let fixture = try UploadFixture()
    let (old, new) = (fixture.directory.path + "/spool", fixture.directory.path + "/moved")
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(100))
    #expect(fixture.store.lives(at: old) && !fixture.store.lives(at: new))
    #expect(rename(old, new) == 0)
    #expect(!fixture.store.lives(at: old) && fixture.store.lives(at: new))
    fixture.store.move(to: new)
    writer.write(Array(pattern(200)[100...]))
    #expect(try fixture.step { upload.complete(on: $0, then: $1) })
    writer.detach()
    let other = try fixture.completed(pattern(50))
    #expect(try fixture.contents(upload) == pattern(200) && fixture.contents(other) == pattern(50))
    #expect(fixture.path(other).hasPrefix(new) && fixture.hasFile(other))
    try fixture.settle()
    fixture.store.close()
    #expect(!fixture.store.lives(at: new) && !Files.exists(old))
    let again = try UploadStore(
      UploadStoreSettings(name: "test", path: new), pool: fixture.pool, events: fixture.events, clock: fixture.clock)
    #expect(again.find(upload.id)?.status.offset == 200 && again.find(other.id)?.status.offset == 50)
    again.close()
  }
}
