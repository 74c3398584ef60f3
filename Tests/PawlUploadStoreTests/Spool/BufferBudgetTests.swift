import PawlDisk
import PawlStoreTestKit
import Testing

@testable import PawlUploadStore

@Suite("Room for bytes on their way") struct BufferBudgetTests {
  @Test("comes out of the spool and of the client's share, and goes back with its owner")
  func share() throws {
    let fixture = try UploadFixture {
      $0.maxSize = 1000
      $0.maxSharePerClient = 50
    }
    let budget = BufferBudget(of: fixture.store)
    let (one, other) = (Array("one".utf8), Array("other".utf8))
    do {
      let (first, second) = (budget.makeRoom(for: one), budget.makeRoom(for: one))
      #expect(first.grow(by: 300) && !second.grow(by: 201) && second.grow(by: 200) && !first.grow(by: 1))
      let third = budget.makeRoom(for: other)
      #expect(third.grow(by: 500) && !third.grow(by: 1))
      #expect(fixture.store.usedBytes == 1000 && fixture.store.reservedBytes == 0)
      #expect(!budget.makeRoom(for: Array("third".utf8)).grow(by: 1))
    }
    #expect(budget.usedBytes == 0 && budget.makeRoom(for: one).grow(by: 500))
  }

  @Test("a directory without a spool has a budget of its own, and is made")
  func ofItsOwn() throws {
    let directory = TestDirectory()
    let budget = try BufferBudget(directory: directory.path + "/state")
    #expect(Files.exists(directory.path + "/state"))
    let room = budget.makeRoom(for: [1])
    #expect(room.grow(by: 1) && !room.grow(by: 1 << 62))
    #expect(budget.usedBytes == 1)
  }
}
