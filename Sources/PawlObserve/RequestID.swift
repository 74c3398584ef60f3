import CLinux

/// The identifier a request is given when it brought none: 32 hexadecimal digits, 128 random bits.
package enum RequestID {
  /// Digits of one.
  package static let count = 32
}

/// Makes identifiers for one thread: costs one `getrandom(2)` in 256 of them.
package struct RequestIDs: Sendable {
  private var octets: [UInt8] = []

  package init() {}

  /// A new identifier. Never fails and never repeats in practice.
  package mutating func make() -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(RequestID.count)
    append(to: &text)
    return text
  }

  /// Appends the digits of a new identifier.
  package mutating func append(to text: inout [UInt8]) {
    if octets.isEmpty { refill() }
    let words = (word(before: octets.count - 8), word(before: octets.count))
    octets.removeLast(16)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RequestID.count) { digits in
      // Safe: all 32 digits are written before they are read.
      for digit in 0..<16 {
        let shift = UInt64(60 - 4 * digit)
        digits[digit] = Self.digit(UInt8(truncatingIfNeeded: words.0 >> shift) & 15)
        digits[digit + 16] = Self.digit(UInt8(truncatingIfNeeded: words.1 >> shift) & 15)
      }
      text.append(contentsOf: digits)
    }
  }

  @inline(__always)
  private static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? 0x30 : 0x57) }

  private func word(before end: Int) -> UInt64 {
    octets.span.bytes.unsafeLoadUnaligned(fromByteOffset: end - 8, as: UInt64.self)
  }

  private mutating func refill() {
    octets = [UInt8](repeating: 0, count: 4096)
    var filled = 0
    while filled < octets.count {
      let count = octets.withUnsafeMutableBytes { buffer in
        getrandom(buffer.baseAddress?.advanced(by: filled), buffer.count - filled, 0)
      }
      // Only a signal can interrupt it: with these flags getrandom(2) has no other failure once the system has booted.
      filled += max(count, 0)
    }
  }
}
