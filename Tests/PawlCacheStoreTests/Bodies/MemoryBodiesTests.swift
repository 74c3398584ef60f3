import PawlStoreTestKit
import Testing

@testable import PawlCacheStore

@Suite("Small bodies in memory") struct MemoryBodiesTests {
  private func bodies(_ count: Int, in fixture: StoreFixture) throws -> [StoredBody] {
    try (0..<count).map { try fixture.store("/\($0)", pattern(10)).body }
  }

  @Test("are counted while they are there, in whatever order they go")
  func counts() throws {
    let fixture = try StoreFixture { $0.memory = 0 }
    let bodies = try bodies(5, in: fixture)
    let memory = MemoryBodies(limit: 100)
    for body in bodies { #expect(memory.admit(body, size: 10)) }
    #expect(memory.bytes == 50)
    for (left, index) in [(4, 1), (3, 4), (2, 0), (1, 3), (0, 2)] {
      memory.remove(ObjectIdentifier(bodies[index]))
      memory.remove(ObjectIdentifier(bodies[index]))
      #expect(memory.bytes == UInt64(left) * 10)
    }
    #expect(memory.admit(bodies[1], size: 10) && memory.bytes == 10)
  }

  @Test("make room for others at the limit, and not one byte beyond it", arguments: [40, 39] as [UInt64])
  func limit(_ limit: UInt64) throws {
    let fixture = try StoreFixture { $0.memory = 0 }
    let bodies = try bodies(4, in: fixture)
    let memory = MemoryBodies(limit: limit)
    for body in bodies { #expect(memory.admit(body, size: 10)) }
    #expect(memory.bytes == (limit == 40 ? 40 : 30))
    #expect(!memory.admit(bodies[0], size: limit + 1))
    // One that came again while it was there is counted twice until the hand has passed; then once, and at last not at all.
    #expect(memory.admit(bodies[3], size: 10))
    for body in bodies { memory.remove(ObjectIdentifier(body)) }
    for body in bodies { memory.remove(ObjectIdentifier(body)) }
    #expect(memory.bytes <= 10)
  }

  @Test("leave in small steps when the limit is lowered, and nothing is added before they have left")
  func trim() throws {
    let fixture = try StoreFixture { $0.memory = 0 }
    let bodies = try bodies(5, in: fixture)
    let memory = MemoryBodies(limit: 100)
    for body in bodies { #expect(memory.admit(body, size: 10)) }
    memory.setLimit(30)
    #expect(!memory.admit(bodies[0], size: 10) && memory.bytes == 50)
    memory.trim()
    #expect(memory.bytes == 30)
    memory.setLimit(0)
    memory.trim()
    #expect(memory.bytes == 0 && !memory.admit(bodies[0], size: 1))
    memory.setLimit(10)
    #expect(memory.admit(bodies[0], size: 10) && memory.bytes == 10)
  }
}
