import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Memory of what was handed on") struct DeliveredMemoryTests {
  private static let content = OriginStep.pattern(from: 0, count: 20_000)
  private static let start: UInt64 = 100

  /// What was noted of all of `content`, in pieces of that many bytes.
  private func noted(by size: Int = 3000) -> DeliveredMemory {
    var memory = DeliveredMemory(from: Self.start)
    for first in stride(from: 0, to: Self.content.count, by: size) {
      Array(Self.content[first...].prefix(size)).withUnsafeBytes { memory.note($0) }
    }
    return memory
  }

  /// Whether all pieces of `bytes`, the first at `offset`, agree.
  private func agrees(_ memory: inout DeliveredMemory, _ bytes: [UInt8], at offset: UInt64, by size: Int) -> Bool {
    stride(from: 0, to: bytes.count, by: size).allSatisfy { first in
      Array(bytes[first...].prefix(size)).withUnsafeBytes { memory.agrees($0, at: offset + UInt64(first)) }
    }
  }

  @Test("takes a replay from the start that is the same", arguments: [1000, 7777, 20_000])
  func replay(_ size: Int) {
    var memory = noted()
    #expect(agrees(&memory, Self.content, at: Self.start, by: size))
    #expect(agrees(&memory, Self.content, at: Self.start, by: size), "a second replay")
  }

  @Test("refuses a replay with one other byte, at its end at the latest", arguments: [0, 9999, 19_999])
  func changedReplay(_ index: Int) {
    var memory = noted()
    var other = Self.content
    other[index] ^= 1
    #expect(!agrees(&memory, other, at: Self.start, by: 1000))
  }

  @Test("compares an overlap with the last 4 KiB", arguments: [1, 100, DeliveredMemory.tailLength])
  func overlap(_ count: Int) {
    for size in [10, 3000, 20_000] {
      var memory = noted(by: size)
      var tail = Array(Self.content.suffix(count))
      #expect(agrees(&memory, tail, at: memory.end - UInt64(count), by: 1500))
      tail[count / 2] ^= 1
      #expect(!agrees(&memory, tail, at: memory.end - UInt64(count), by: 1500))
    }
  }

  @Test("refuses what it cannot know")
  func unknown() {
    var memory = noted(by: 20_000)
    #expect(memory.end == Self.start + UInt64(Self.content.count))
    let byte = Array(Self.content.suffix(1))
    #expect(!agrees(&memory, byte, at: Self.start - 1, by: 1), "before the start")
    #expect(!agrees(&memory, byte, at: Self.start + 1, by: 1), "between the start and the tail")
    #expect(!agrees(&memory, byte + byte, at: memory.end - 1, by: 2), "behind the end")
  }
}
