import Testing

@testable import PawlStore

@Suite("Room for content that is no upload") struct UploadRoomTests {
  @Test("comes out of what uploads have, and goes back with its owner")
  func shared() throws {
    let fixture = try UploadFixture { $0.maxSize = 1000 }
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(400))
    writer.detach()
    do {
      let room = fixture.store.makeRoom()
      #expect(room.grow(by: 500) && !room.grow(by: 101) && room.grow(by: 100))
      #expect(fixture.store.usedBytes == 1000 && fixture.store.reservedBytes == 0)
      #expect(try fixture.writer(upload).write([1]) == .full)
    }
    #expect(fixture.store.usedBytes == 400)
    #expect(try fixture.writer(upload).write([1]) == .written(unsynced: 401))
  }

  @Test("leaves free on the file system what has to be")
  func minFree() throws {
    let fixture = try UploadFixture { $0.minFree = 1 << 62 }
    #expect(!fixture.store.makeRoom().grow(by: 1))
  }
}
