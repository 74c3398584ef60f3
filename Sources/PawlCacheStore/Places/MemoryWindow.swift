/// The latest bytes of a body that grows beyond what the disk takes: at most about 1 MiB, for readers that keep up. Those
/// that do not are overtaken: the window goes on without them.
struct MemoryWindow {
  /// The fill stops reading from the origin when so many bytes wait for the slowest reader.
  static let capacity = 1 << 20

  private var bytes: [UInt8] = []
  /// Bytes of `bytes` that have passed.
  private var passed = 0
  /// Offset in the body of the first byte still here.
  private var start: UInt64?
  /// Where the window began.
  private var first: UInt64?

  /// Whether something has left it: who is before it comes too late, and is not waited for.
  var hasMoved: Bool { start != first }

  var range: Range<UInt64> {
    guard let start else { return 0..<0 }
    return start..<(start + UInt64(bytes.count - passed))
  }

  var isFull: Bool { bytes.count - passed >= Self.capacity }

  /// Adds what continues the window; bytes already in it are skipped.
  /// - Returns: `false` when a gap would come to be, or when it is from before the window: none of it is taken.
  mutating func append(_ added: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    if start == nil { (start, first) = (offset, offset) }
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

  /// So many bytes before its end stay when the slowest readers are overtaken.
  static let keptWhenOvertaking = capacity / 4

  /// Where one stands who waits for more, or is about to.
  private var nearEnd: UInt64 { range.upperBound - min(UInt64(Self.keptWhenOvertaking), range.upperBound) }

  /// Whether some of its readers wait for others: it is full, or nearly, for these only.
  func isHeldUp(by readers: some Sequence<UInt64>) -> Bool {
    guard bytes.count - passed >= Self.capacity / 8 * 7 else { return false }
    let hungry = range.upperBound - min(UInt64(Self.capacity / 16), range.upperBound)
    return readers.contains { $0 >= hungry } && readers.contains { $0 < nearEnd }
  }

  /// Goes on without the readers that are far behind.
  mutating func overtake() { drop(before: nearEnd) }

  /// At most `limit` bytes from `position` on; `nil` when they are not here.
  func piece(at position: UInt64, limit: Int) -> [UInt8]? {
    guard range.contains(position) else { return nil }
    let first = passed + Int(position - range.lowerBound)
    return Array(bytes[first..<min(bytes.count, first + max(limit, 1))])
  }

  /// Whether the byte at `position` is from before the window: it was here and is gone, or there is no room to fetch it into.
  func hasPassed(_ position: UInt64) -> Bool { position < range.lowerBound }
}
