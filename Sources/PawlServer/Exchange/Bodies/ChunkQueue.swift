import DequeModule

/// Content between an origin and a client, in the order it came. Bounded by whoever fills it.
struct ChunkQueue {
  /// The one that is being taken; empty when all are. Most answers are one chunk.
  private var present: [UInt8] = []
  private var taken = 0
  private var behind: Deque<[UInt8]> = []
  private(set) var count = 0
  /// Bytes below which a chunk takes more.
  private static let small = 1 << 10

  var isEmpty: Bool { count == 0 }

  /// - Returns: how many bytes there are now.
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

  /// Who sends little at a time has no chunk for each of it, which costs many times as much.
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

  /// The next bytes, at most `limit`, without copying them; `nil` when there are none.
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
