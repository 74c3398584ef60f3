import PawlLoop
import Testing

@testable import PawlServer

@Suite("Memory of requests and answers on their way") struct BufferMemoryTests {
  @Test("a client has its share and not one octet more, and all together theirs")
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

  @Test("a transfer holds its loop's allowance first, then of its client's share, and gives all of it back")
  func held() throws {
    let bench = try ServerBench()
    let (owner, memory) = (bench.owner, bench.owner.server.bufferMemory)
    var (one, other) = (HeldMemory(), HeldMemory())
    #expect(one.hold(BufferMemory.allowance, on: owner) { 7 } && memory.used == 0 && owner.memory.allowance == 0)
    #expect(one.hold(BufferMemory.allowance + 1, on: owner) { 7 } && memory.used == HeldMemory.step)
    #expect(one.hold(BufferMemory.allowance + HeldMemory.step, on: owner) { 7 } && memory.used == HeldMemory.step)
    #expect(other.hold(BufferMemory.clientLimit - HeldMemory.step, on: owner) { 7 })
    #expect(!other.hold(BufferMemory.clientLimit, on: owner) { 7 } && !other.isDenied)
    one.giveBack(on: owner)
    #expect(one.isEmpty && owner.memory.allowance == BufferMemory.allowance)
    other.giveBack(on: owner)
    #expect(other.isEmpty && memory.used == 0)
  }

  @Test("as long as some hold more than there is room for, little is read at a time")
  func scarce() throws {
    let bench = try ServerBench()
    var (one, other) = (HeldMemory(), HeldMemory())
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
    for _ in 0..<2 { one.holdsMore(on: bench.owner) }
    other.holdsMore(on: bench.owner)
    one.giveBack(on: bench.owner)
    #expect(bench.loop.readLimit == ServerLoop.scarceRead && !one.isDenied && other.isDenied)
    other.giveBack(on: bench.owner)
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
  }
}

extension ServerBench {
  /// From now on there is no memory for requests and answers but what each has freely.
  func exhaustMemory() {
    owner.memory.allowance = 0
    _ = owner.server.bufferMemory.take(BufferMemory.limit, for: 0)
  }
}
