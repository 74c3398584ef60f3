import Testing

@testable import PawlServer

@Suite("Memory of requests and answers on their way") struct BufferMemoryTests {
  @Test("a client has its share and not one byte more, and all together theirs")
  func limits() {
    let memory = BufferMemory()
    #expect(memory.take(BufferMemory.clientLimit, for: 7) && !memory.take(1, for: 7))
    #expect(memory.take(BufferMemory.limit - BufferMemory.clientLimit - 1, for: 0))
    #expect(!memory.take(2, for: 8) && memory.take(1, for: 8) && !memory.take(1, for: 9) && !memory.take(1, for: 0))
    #expect(memory.used == BufferMemory.limit)
    _ = memory.giveBack(1, for: 7)
    #expect(memory.take(1, for: 7) && !memory.take(1, for: 7))
  }

  @Test("the system gets back what is free once half of much is", arguments: [(0, true), (1, false)])
  func trimmed(_ less: Int, _ isDue: Bool) {
    let memory = BufferMemory()
    let count = BufferMemory.trimmed - less
    #expect(memory.take(count, for: 7))
    #expect(!memory.giveBack(count / 2 - 1, for: 7))
    #expect(memory.giveBack(1 + less, for: 7) == isDue)
    // Once.
    #expect(!memory.giveBack(1, for: 7))
  }
}
