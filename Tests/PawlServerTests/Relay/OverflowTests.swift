import CLinux
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Bytes that wait in a file") struct OverflowTests {
  private static let bytes = OriginStep.pattern(from: 0, count: 1_000_000)

  private func append(_ range: Range<Int>, to overflow: Overflow) -> Bool {
    Self.bytes[range].withUnsafeBytes { overflow.append($0) }
  }

  /// Takes all there is, waiting for the pool where it has to.
  private func drain(_ overflow: Overflow, _ bench: ServerBench, limit: Int = 50_000) -> [UInt8] {
    var got: [UInt8] = []
    while true {
      switch overflow.next(limit: limit) {
      case .bytes(let bytes): got += bytes
      case .later:
        var isDone = false
        overflow.changed = { isDone = true }
        bench.turn { isDone }
      case .nothing: return got
      case .failed:
        Issue.record("could not be read")
        return got
      }
    }
  }

  @Test("come out as they went in, also where writes are slow", arguments: [false, true])
  func order(_ isSlow: Bool) throws {
    let bench = try ServerBench()
    if isSlow { bench.services.noteWrite(.seconds(1)) }
    let space = try #require(bench.route.bufferSpace)
    let overflow = try #require(Overflow(space, for: [1], limit: 1 << 30, on: bench.services))
    var got: [UInt8] = []
    for start in stride(from: 0, to: Self.bytes.count, by: 100_000) {
      let goesOn = append(start..<start + 100_000, to: overflow)
      if !isSlow {
        #expect(goesOn)
      } else if !goesOn {
        bench.turn { overflow.takesMore }
      }
      if start == 500_000 { got += drain(overflow, bench) }
    }
    #expect(isSlow || space.budget.usedBytes == UInt64(Self.bytes.count))
    got += drain(overflow, bench)
    #expect(got == Self.bytes && overflow.isEmpty)
  }

  @Test("up to the limit, and not one more in the file; what came stays")
  func limit() throws {
    let bench = try ServerBench()
    let space = try #require(bench.route.bufferSpace)
    for (count, goesOn) in [(1000, true), (1001, false)] {
      let overflow = try #require(Overflow(space, for: [1], limit: 1000, on: bench.services))
      #expect(append(0..<500, to: overflow))
      #expect(append(500..<count, to: overflow) == goesOn)
      #expect(overflow.isAtLimit == !goesOn)
      #expect(drain(overflow, bench) == Array(Self.bytes[..<count]))
    }
    #expect(Overflow(space, for: [1], limit: 0, on: bench.services) == nil)
  }

  @Test("the client's share of the spool is the limit, too, and comes back")
  func share() throws {
    let bench = try ServerBench { $0.more = "[spool:default]\nmax-size = 1M\nmax-share-per-client = 10%" }
    let space = try #require(bench.route.bufferSpace)
    do {
      let overflow = try #require(Overflow(space, for: [1], limit: 1 << 30, on: bench.services))
      #expect(append(0..<100_000, to: overflow) && !append(100_000..<110_000, to: overflow))
      let other = try #require(Overflow(space, for: [2], limit: 1 << 30, on: bench.services))
      #expect(append(0..<100_000, to: other))
      #expect(drain(overflow, bench) == Array(Self.bytes[..<110_000]))
    }
    #expect(space.budget.usedBytes == 0)
  }

  @Test("nothing of them can be read in the file")
  func sealed() throws {
    let bench = try ServerBench()
    let space = try #require(bench.route.bufferSpace)
    let text = Array("nobody may keep this. ".utf8)
    let overflow = try #require(Overflow(space, for: [1], limit: 1 << 30, on: bench.services))
    _ = text.withUnsafeBytes { overflow.append($0) }
    var written = [UInt8](repeating: 0, count: text.count)
    #expect(pread(overflow.file.descriptor, &written, written.count, 0) == written.count)
    #expect(zip(written, text).filter { $0 == $1 }.count < 8)
  }

  @Test("where memory has no room, 16 KiB wait for what is being written, and not one byte more")
  func scarce() throws {
    let bench = try ServerBench()
    bench.services.noteWrite(.seconds(1))
    bench.exhaustMemory()
    let space = try #require(bench.route.bufferSpace)
    let overflow = try #require(Overflow(space, for: [1], limit: 1 << 30, on: bench.services))
    #expect(append(0..<1, to: overflow))
    #expect(append(1..<1 + Overflow.free, to: overflow))
    #expect(!append(1 + Overflow.free..<2 + Overflow.free, to: overflow))
    #expect(bench.loop.readLimit == LoopServices.scarceRead)
    bench.turn { overflow.takesMore }
    #expect(bench.loop.readLimit == EventLoop.readBufferSize)
    #expect(drain(overflow, bench) == Array(Self.bytes[..<(2 + Overflow.free)]))
  }
}
