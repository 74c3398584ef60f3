/// What is remembered of bytes that were handed on and are kept nowhere: a running hash of all of them, and the last
/// 4 KiB. Enough to prove that an origin which starts again, or goes on shortly before the break, sends the same.
struct DeliveredMemory {
  /// A longer overlap than this cannot be compared.
  static let tailLength = 4096

  /// Offset in the body of the first byte noted.
  let start: UInt64
  /// Offset behind the last.
  private(set) var end: UInt64
  private let delivered = RunningHash()
  private var replayed: RunningHash?
  private var tail: [UInt8] = []

  init(from start: UInt64) { (self.start, end) = (start, start) }

  /// The next bytes have been handed on.
  mutating func note(_ bytes: UnsafeRawBufferPointer) {
    delivered.update(bytes)
    end += UInt64(bytes.count)
    if bytes.count >= Self.tailLength {
      tail = Array(bytes.suffix(Self.tailLength))
    } else {
      tail.append(contentsOf: bytes)
      if tail.count > 2 * Self.tailLength { tail.removeFirst(tail.count - Self.tailLength) }
    }
  }

  /// Bytes that came again, in order, from ``start`` or from within the tail on, none behind ``end``.
  /// - Returns: `false` when they differ; for a replay from ``start`` that is known at ``end`` only.
  mutating func agrees(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    guard offset >= start, offset <= end, UInt64(bytes.count) <= end - offset else { return false }
    if offset == start { replayed = RunningHash() }
    if let replayed {
      replayed.update(bytes)
      guard offset + UInt64(bytes.count) == end else { return true }
      self.replayed = nil
      return replayed.digest == delivered.digest
    }
    guard end - offset <= UInt64(tail.count) else { return false }
    let first = tail.count - Int(end - offset)
    return tail[first..<first + bytes.count].elementsEqual(bytes)
  }
}
