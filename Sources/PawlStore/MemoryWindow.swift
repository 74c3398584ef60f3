/// The latest bytes of a body that grows beyond what the disk takes: at most about 1 MiB, for readers that keep up.
struct MemoryWindow {
  /// The fill stops reading from the origin when so many bytes wait for the slowest reader.
  static let capacity = 1 << 20

  private var bytes: [UInt8] = []
  /// Octets of `bytes` that have passed.
  private var passed = 0
  /// Offset in the body of the first octet still here.
  private var start: UInt64?

  var range: Range<UInt64> {
    guard let start else { return 0..<0 }
    return start..<(start + UInt64(bytes.count - passed))
  }

  var isFull: Bool { bytes.count - passed >= Self.capacity }

  /// Adds what continues the window; octets already in it are skipped.
  /// - Returns: `false` when a gap would come to be, or when it is from before the window: none of it is taken.
  mutating func append(_ added: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    if start == nil { start = offset }
    guard range.lowerBound <= offset, offset <= range.upperBound else { return false }
    let skipped = range.upperBound - offset
    if skipped < UInt64(added.count) { bytes.append(contentsOf: added[Int(skipped)...]) }
    return true
  }

  /// Forgets what is before `position`.
  mutating func drop(before position: UInt64) {
    guard let start, position > start else { return }
    let count = Int(min(position, range.upperBound) - start)
    passed += count
    self.start = start + UInt64(count)
    if passed > Self.capacity / 2 || passed == bytes.count {
      bytes.removeFirst(passed)
      passed = 0
    }
  }

  /// At most `limit` octets from `position` on; `nil` when they are not here.
  func piece(at position: UInt64, limit: Int) -> [UInt8]? {
    guard range.contains(position) else { return nil }
    let first = passed + Int(position - range.lowerBound)
    return Array(bytes[first..<min(bytes.count, first + max(limit, 1))])
  }

  /// Whether the octet at `position` is from before the window: it was here and is gone, or there is no room to fetch it into.
  func hasPassed(_ position: UInt64) -> Bool { position < range.lowerBound }
}
