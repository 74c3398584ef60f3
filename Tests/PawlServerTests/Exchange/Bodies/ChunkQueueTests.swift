import PawlBase
import Testing

@testable import PawlServer

@Suite("Content that waits") struct ChunkQueueTests {
  private func append(_ bytes: [UInt8], to queue: inout ChunkQueue) {
    _ = bytes.withUnsafeBytes { queue.append($0) }
  }
  private func take(_ queue: inout ChunkQueue, _ limit: Int) -> [UInt8]? {
    queue.next(limit: limit).map { Array($0.bytes[$0.range]) }
  }

  @Test("comes out as it went in, in pieces no larger than asked for", arguments: [1, 2, 3, 100])
  func order(_ limit: Int) {
    var queue = ChunkQueue()
    append([1, 2, 3], to: &queue)
    append([], to: &queue)
    append([4], to: &queue)
    append([5, 6], to: &queue)
    #expect(queue.count == 6)
    var seen: [UInt8] = []
    while let piece = take(&queue, limit) {
      #expect(!piece.isEmpty && piece.count <= limit)
      seen += piece
      #expect(queue.count == 6 - seen.count)
    }
    #expect(seen == [1, 2, 3, 4, 5, 6])
    #expect(queue.isEmpty)
  }

  @Test("goes on after it was emptied, and forgets what is removed")
  func again() {
    var queue = ChunkQueue()
    append([1, 2], to: &queue)
    #expect(take(&queue, 1) == [1])
    append([3], to: &queue)
    #expect(take(&queue, 9) == [2, 3])
    #expect(take(&queue, 9) == nil)
    append([4], to: &queue)
    queue.removeAll()
    #expect(queue.isEmpty && take(&queue, 9) == nil)
  }

  @Test("what comes a byte at a time has few chunks, also while it is being taken")
  func small() {
    var queue = ChunkQueue()
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var (seen, pieces) = ([UInt8](), 0)
    for (number, byte) in bytes.enumerated() {
      append([byte], to: &queue)
      if number == 500 { seen += take(&queue, 100) ?? [] }
    }
    while let piece = take(&queue, .max) {
      seen += piece
      pieces += 1
    }
    #expect(seen == bytes && pieces <= 10 && queue.isEmpty)
  }
}
