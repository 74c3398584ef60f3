/// A summary of bytes that were delivered and are stored nowhere: a running hash of all of them, and the last 4 KiB. The hash and the last
/// bytes are enough to prove that an origin sends the same bytes again, from the start or from shortly before the break.
struct DeliveredMemory {
  /// The smallest number of last bytes that are kept. A response that begins before the kept bytes, and not at ``start``, cannot be
  /// compared.
  static let tailLength = 4096

  /// The offset in the body of the first noted byte.
  let start: UInt64
  /// The offset in the body after the last noted byte.
  private(set) var end: UInt64
  private let delivered = RunningHash()
  private var replayed: RunningHash?
  private var tail: [UInt8] = []

  init(from start: UInt64) { (self.start, end) = (start, start) }

  /// Notes the next bytes that were delivered.
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

  /// Compares bytes that came again with the delivered ones. The bytes have to come in order, beginning at ``start`` or within the kept
  /// last bytes, and have to end at ``end`` or earlier.
  /// - Returns: `false` if the bytes differ. In a replay from ``start`` only hashes are compared, so a difference shows only at ``end``.
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
