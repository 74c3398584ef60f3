import CLinux
import PawlBase

/// The identifier that pawl gives to a request without one: 32 hexadecimal digits, 128 random bits.
package enum RequestID {
  /// The number of digits.
  package static let count = 32
}

/// Makes identifiers on one thread. One `getrandom(2)` is enough for 256 of them.
package struct RequestIDs: Sendable {
  private var bytes: [UInt8] = []
  /// The number of unused bytes at the start of ``bytes``.
  private var left = 0

  package init() {}

  /// Returns a new identifier. This function never fails, and in practice no two identifiers are equal.
  package mutating func make() -> [UInt8] {
    let words = nextWords()
    return [UInt8](unsafeUninitializedCapacity: RequestID.count) { digits, count in
      Self.write(words, to: digits)
      count = RequestID.count
    }
  }

  /// Appends the digits of a new identifier.
  package mutating func append(to text: inout [UInt8]) {
    let words = nextWords()
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RequestID.count) { digits in
      Self.write(words, to: digits)
      text.append(contentsOf: digits)
    }
  }

  /// Writes all 32 digits.
  @inline(__always)
  private static func write(_ words: (UInt64, UInt64), to digits: UnsafeMutableBufferPointer<UInt8>) {
    for digit in 0..<16 {
      let shift = UInt64(60 - 4 * digit)
      digits[digit] = .hexDigit(UInt8(truncatingIfNeeded: words.0 >> shift) & 15)
      digits[digit + 16] = .hexDigit(UInt8(truncatingIfNeeded: words.1 >> shift) & 15)
    }
  }

  /// Takes 16 unused bytes.
  private mutating func nextWords() -> (UInt64, UInt64) {
    if left == 0 { refill() }
    defer { left -= 16 }
    return (word(before: left - 8), word(before: left))
  }

  private func word(before end: Int) -> UInt64 {
    bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: end - 8, as: UInt64.self)
  }

  private mutating func refill() {
    bytes = [UInt8](repeating: 0, count: 4096)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        getrandom(buffer.baseAddress?.advanced(by: filled), buffer.count - filled, 0)
      }
      // Only a signal can interrupt the call: with these flags getrandom(2) has no other failure once the system has booted.
      filled += max(count, 0)
    }
    left = bytes.count
  }
}
