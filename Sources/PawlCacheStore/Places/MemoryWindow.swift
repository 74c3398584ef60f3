/// The latest bytes of a body that cannot be stored on the disk: about 1 MiB at most, for readers that are fast enough. Slower
/// readers can be overtaken; they do not get the bytes that have left the window.
struct MemoryWindow {
  /// The limit in bytes. When this many bytes wait for the slowest reader, the fill stops reading from the origin.
  static let capacity = 1 << 20

  private var bytes: [UInt8] = []
  /// The number of bytes at the beginning of `bytes` that have left the window.
  private var passed = 0
  /// The offset in the body of the first byte that is in the window.
  private var start: UInt64?
  /// The offset at which the window began.
  private var first: UInt64?

  /// Whether bytes have left the window. A reader whose position is then before the window is too late, and the window does not
  /// wait for it.
  var hasMoved: Bool { start != first }

  var range: Range<UInt64> {
    guard let start else { return 0..<0 }
    return start..<(start + UInt64(bytes.count - passed))
  }

  var isFull: Bool { bytes.count - passed >= Self.capacity }

  /// Adds bytes that continue the window; bytes already in it are skipped.
  /// - Returns: `false` if the bytes would leave a gap, or begin before the window. Then none of them are added.
  mutating func append(_ added: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    if start == nil { (start, first) = (offset, offset) }
    guard range.lowerBound <= offset, offset <= range.upperBound else { return false }
    let skipped = range.upperBound - offset
    if skipped < UInt64(added.count) { bytes.append(contentsOf: added[Int(skipped)...]) }
    return true
  }

  /// Drops the bytes before `position`.
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

  /// The number of bytes at the end of the window that stay when the slowest readers are overtaken.
  static let keptWhenOvertaking = capacity / 4

  /// The first position that is near the end of the window. A reader there, or after it, waits for more bytes, or soon will.
  private var nearEnd: UInt64 { range.upperBound - min(UInt64(Self.keptWhenOvertaking), range.upperBound) }

  /// Whether fast readers wait for slow ones: the window is full or nearly full, some readers are at its end and others far
  /// behind.
  func isHeldUp(by readers: some Sequence<UInt64>) -> Bool {
    guard bytes.count - passed >= Self.capacity / 8 * 7 else { return false }
    let hungry = range.upperBound - min(UInt64(Self.capacity / 16), range.upperBound)
    return readers.contains { $0 >= hungry } && readers.contains { $0 < nearEnd }
  }

  /// Drops all but the last ``keptWhenOvertaking`` bytes, without waiting for the readers that are far behind.
  mutating func overtake() { drop(before: nearEnd) }

  /// Returns at most `limit` bytes from `position` on; `nil` if they are not in the window.
  func piece(at position: UInt64, limit: Int) -> [UInt8]? {
    guard range.contains(position) else { return nil }
    let first = passed + Int(position - range.lowerBound)
    return Array(bytes[first..<min(bytes.count, first + max(limit, 1))])
  }

  /// Whether the byte at `position` is before the window. It has left the window or was never in it, and there is no space to
  /// fetch it again.
  func hasPassed(_ position: UInt64) -> Bool { position < range.lowerBound }
}
