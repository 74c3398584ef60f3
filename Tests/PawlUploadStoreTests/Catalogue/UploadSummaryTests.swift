import CLinux
import PawlDisk
import PawlStoreTestKit
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("The catalogue as the command line reads it") struct UploadCatalogueReadingTests {
  @Test("shows what is there beside a running server, in the order it came, without tombstones")
  func lists() throws {
    let fixture = try UploadFixture()
    let path = fixture.directory.path + "/spool"
    let first = try fixture.create(fixture.origin(isTus: true), length: 50)
    try fixture.writer(first).write(pattern(20))
    try fixture.sync(first)
    fixture.clock.advance(by: .seconds(5))
    let second = try fixture.completed(pattern(7))
    #expect(second.beginForward())
    second.noteAttempt(failed: "no route", nextAt: 99)
    let removed = try fixture.create()
    #expect(try fixture.step { removed.remove(on: $0, then: $1) })
    fixture.store.flush()
    let list = try UploadCatalogueReading.list(path)
    #expect(list.map(\.id) == [first.id, second.id])
    let (one, two) = (try #require(list.first), try #require(list.last))
    #expect(one.offset == 20 && one.length == 50 && one.phase == .open && one.isTus)
    #expect(one.expires == first.status.expires)
    #expect(String(decoding: one.target, as: UTF8.self) == "/files/a")
    #expect(String(decoding: one.authority, as: UTF8.self) == "a.example")
    #expect(String(decoding: one.method, as: UTF8.self) == "PUT")
    #expect(two.phase == .complete && two.attempts == 1 && two.lastError == "no route" && two.nextAttempt == 99)
    let tombstone = try UploadCatalogueReading.show(removed.id, path)
    #expect(tombstone?.phase == .removed && tombstone?.target == [])
    #expect(try UploadCatalogueReading.show(.make(), path) == nil)
    let none = path + "/none"
    #expect(throws: StoreError.system(call: "access", path: none, errno: ENOENT)) {
      try UploadCatalogueReading.list(none)
    }
    #expect(UploadCatalogueReading.isMissing(none) && !UploadCatalogueReading.isMissing(path))
    #expect(try UploadCatalogueReading.list(fixture.directory.path) == [])
    #expect(try UploadCatalogueReading.hasUploads(path) && !UploadCatalogueReading.hasUploads(path + "/none"))
    second.noteAttempt(failed: "no route", nextAt: nil)
    for upload in [first, second] { #expect(try fixture.step { upload.remove(on: $0, then: $1) }) }
    fixture.store.flush()
    #expect(try !UploadCatalogueReading.hasUploads(path))
  }
}
