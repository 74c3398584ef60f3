import PawlCache
import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Memory for bodies that are gathered") struct GatheringRoomTests {
  @Test("as much is given as there is, not a byte more, and what goes back is given again")
  func limit() {
    let room = GatheringRoom(limit: 100)
    var shares = [room.take(60), room.take(40)]
    #expect(shares.allSatisfy { $0 != nil })
    #expect(room.take(1) == nil)
    shares.removeFirst()
    #expect(room.take(61) == nil)
    #expect(room.take(60) != nil)
  }

  @Test("a share grows with its body, as far as there is room")
  func grows() throws {
    let room = GatheringRoom(limit: 100)
    let share = try #require(room.take(20))
    for (count, isCovered) in [(0, true), (20, true), (21, true), (40, true), (41, true), (80, true), (81, false)]
      as [(UInt64, Bool)]
    {
      let covers = share.covers(count)
      #expect(covers == isCovered, "\(count)")
    }
    #expect(room.take(21) == nil)
    #expect(room.take(20) != nil)
  }

  @Test("large arrays are used again, small ones are not kept")
  func arrays() throws {
    let room = GatheringRoom(limit: 0)
    var large = room.bytes(capacity: 50_000)
    #expect((large.count, large.capacity >= 50_000) == (0, true))
    large.append(contentsOf: pattern(50_000))
    let address = large.withUnsafeBytes { $0.baseAddress }
    room.giveBack(large)
    large = []
    var again = room.bytes(capacity: 40_000)
    #expect(again.isEmpty)
    again.append(1)
    #expect(again.withUnsafeBytes { $0.baseAddress } == address)
    #expect(room.bytes(capacity: 100).capacity < 1000)
  }

  @Test("of more bodies at a time than there is memory for, the rest get files, and lose nothing")
  func files() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { $0.gathering = 100_000 }
    let bodies = try (0..<3).map { _ in try fixture.body(total: 50_000) }
    #expect(bodies.map(\.isGathering) == [true, true, false])
    for (index, body) in bodies.enumerated() {
      body.addTag(TagRecord(tag: Array("t".utf8)))
      let response = StoredResponse(head: fixture.head(), body: body, storedAt: fixture.clock.wallSeconds())
      fixture.store.publish(response, in: try fixture.resource("/\(index)"))
      try body.write(pattern(50_000))
      #expect(body.complete())
      #expect(try fixture.readAll(body) == pattern(50_000))
    }
    // All of it has come back.
    #expect(try fixture.body(total: 64_000).isGathering)
    #expect(fixture.store.reservedBytes < 100_000)
  }

  @Test("one of an unknown length that outgrows the memory gets a file")
  func outgrows() throws {
    let fixture = try StoreFixture(packingIn: TestDirectory()) { settings in
      (settings.gathering, settings.packedObject) = (70_000, 200_000)
    }
    let body = try fixture.body()
    #expect(body.isGathering)
    for start in stride(from: 0, to: 150_000, by: 10_000) {
      try body.write(Array(pattern(150_000)[start..<start + 10_000]), at: UInt64(start))
      #expect(body.isGathering == (start + 10_000 <= 65_536))
    }
    body.setTotal(150_000)
    #expect(body.complete())
    #expect(try fixture.readAll(body) == pattern(150_000))
  }
}
