import DequeModule

/// A queue of content between an origin and a client. The queue has no limit of its own; the code that fills the queue keeps one.
struct ChunkQueue {
  /// The chunk that is being taken; empty when the queue is empty. Most answers are one chunk.
  private var present: [UInt8] = []
  private var taken = 0
  private var behind: Deque<[UInt8]> = []
  private(set) var count = 0
  /// The size in bytes below which further bytes are appended to the last chunk.
  private static let small = 1 << 10

  var isEmpty: Bool { count == 0 }

  /// Appends a copy of the bytes.
  /// - Returns: how many bytes are in the queue now.
  @discardableResult
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard !bytes.isEmpty else { return count }
    count += bytes.count
    if present.isEmpty {
      present = Array(bytes)
    } else if bytes.count >= Self.small || !appendToLast(bytes) {
      behind.append(Array(bytes))
    }
    return count
  }

  /// Appends to the last chunk where that is small. A new chunk for each small piece would cost many times more than appending.
  private mutating func appendToLast(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if behind.isEmpty {
      guard present.count < Self.small else { return false }
      present.append(contentsOf: bytes)
    } else {
      guard behind[behind.count - 1].count < Self.small else { return false }
      behind[behind.count - 1].append(contentsOf: bytes)
    }
    return true
  }

  /// Takes the next bytes, at most `limit`, without copying them; `nil` when there are none.
  mutating func next(limit: Int) -> (bytes: [UInt8], range: Range<Int>)? {
    guard !present.isEmpty else { return nil }
    let chunk = present
    let range = taken..<taken + min(chunk.count - taken, limit)
    taken = range.upperBound
    count -= range.count
    if taken == chunk.count { advance() }
    return (chunk, range)
  }

  private mutating func advance() {
    (present, taken) = ([], 0)
    if let first = behind.popFirst() { present = first }
  }

  mutating func removeAll() { self = ChunkQueue() }
}
