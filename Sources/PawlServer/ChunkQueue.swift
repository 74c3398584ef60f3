/// Content between an origin and a client, in the order it came. Bounded by whoever fills it.
struct ChunkQueue {
  private var chunks: [[UInt8]] = []
  private var first = 0
  private var taken = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    chunks.append(Array(bytes))
    count += bytes.count
  }

  /// The next octets, at most `limit`, without copying them; `nil` when there are none.
  mutating func next(limit: Int) -> (bytes: [UInt8], range: Range<Int>)? {
    guard first < chunks.count else { return nil }
    let chunk = chunks[first]
    let range = taken..<min(chunk.count, taken + limit)
    taken = range.upperBound
    count -= range.count
    if taken == chunk.count {
      chunks[first] = []
      first += 1
      taken = 0
      if first == chunks.count {
        chunks.removeAll(keepingCapacity: true)
        first = 0
      }
    }
    return (chunk, range)
  }

  mutating func removeAll() { self = ChunkQueue() }
}
