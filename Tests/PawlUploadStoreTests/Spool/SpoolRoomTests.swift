import PawlStoreTestKit
import Testing

@testable import PawlUploadStore

@Suite("Room for content that is no upload") struct SpoolRoomTests {
  @Test("comes out of what uploads have, and goes back with its owner")
  func shared() throws {
    let fixture = try UploadFixture { $0.maxSize = 1000 }
    let upload = try fixture.create()
    let writer = try fixture.writer(upload)
    writer.write(pattern(400))
    writer.detach()
    do {
      let room = fixture.store.makeRoom(for: [])
      #expect([500, 101, 100].map { room.grow(by: $0) } == [nil, .full, nil])
      #expect(fixture.store.usedBytes == 1000 && fixture.store.reservedBytes == 0)
      #expect(try fixture.writer(upload).write([1]) == .full)
    }
    #expect(fixture.store.usedBytes == 400)
    #expect(try fixture.writer(upload).write([1]) == .written(unsynced: 401))
  }

  @Test("leaves free on the file system what has to be")
  func minFree() throws {
    let fixture = try UploadFixture { $0.minFree = 1 << 62 }
    #expect(fixture.store.makeRoom(for: []).grow(by: 1) == .full)
  }

  @Test("counts for its client as uploads do, and for nobody else")
  func share() throws {
    let fixture = try UploadFixture { ($0.maxSize, $0.maxSharePerClient) = (1000, 30) }
    let me = Array("me".utf8)
    let upload = try fixture.create(fixture.origin("me"), length: 100)
    try fixture.writer(upload).write(pattern(100))
    do {
      let room = fixture.store.makeRoom(for: me)
      #expect([200, 1].map { room.grow(by: $0) } == [nil, .clientShare])
      #expect(fixture.store.makeRoom(for: me).grow(by: 1) == .clientShare)
      #expect(try fixture.tryCreate(.make(), fixture.origin("me"), length: 1).refusal == .clientShare)
      #expect(fixture.store.makeRoom(for: Array("you".utf8)).grow(by: 300) == nil)
    }
    #expect(fixture.store.makeRoom(for: me).grow(by: 200) == nil)
    #expect(try fixture.tryCreate(.make(), fixture.origin("me"), length: 200).refusal == nil)
  }
}
