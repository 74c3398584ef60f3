import PawlLoop
import Testing

@testable import PawlServer

@Suite("Memory of one transfer on its way") struct TransferMemoryTests {
  @Test("a transfer holds its loop's allowance first, then of its client's share, and gives all of it back")
  func held() throws {
    let bench = try ServerBench()
    let (owner, memory) = (bench.services, bench.services.shared.bufferMemory)
    var (one, other) = (TransferMemory(), TransferMemory())
    #expect(one.hold(BufferMemory.allowance, on: owner) { 7 } && memory.used == 0 && owner.memory.allowance == 0)
    #expect(one.hold(BufferMemory.allowance + 1, on: owner) { 7 } && memory.used == TransferMemory.step)
    #expect(
      one.hold(BufferMemory.allowance + TransferMemory.step, on: owner) { 7 } && memory.used == TransferMemory.step)
    #expect(other.hold(BufferMemory.clientLimit - TransferMemory.step, on: owner) { 7 })
    #expect(!other.hold(BufferMemory.clientLimit, on: owner) { 7 } && !other.isDenied)
    one.giveBack(on: owner)
    #expect(one.isEmpty && owner.memory.allowance == BufferMemory.allowance)
    other.giveBack(on: owner)
    #expect(other.isEmpty && memory.used == 0)
  }

  @Test("as long as some hold more than there is room for, little is read at a time")
  func scarce() throws {
    let bench = try ServerBench()
    var (one, other) = (TransferMemory(), TransferMemory())
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
    for _ in 0..<2 { one.holdsMore(on: bench.services) }
    other.holdsMore(on: bench.services)
    one.giveBack(on: bench.services)
    #expect(bench.loop.readLimit == LoopServices.scarceRead && !one.isDenied && other.isDenied)
    other.giveBack(on: bench.services)
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
  }
}

extension ServerBench {
  /// From now on there is no memory for requests and answers but what each has freely.
  func exhaustMemory() {
    services.memory.allowance = 0
    _ = services.shared.bufferMemory.take(BufferMemory.limit, for: 0)
  }
}
