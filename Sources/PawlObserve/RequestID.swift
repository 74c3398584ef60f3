import CLinux

/// The identifier a request is given when it brought none: 32 hexadecimal digits, 128 random bits.
package struct RequestID {
  /// Never fails and never repeats in practice; costs one `getrandom(2)` in 256 calls.
  package static func make() -> [UInt8] {
    let (high, low) = pool.withLock { $0.take() }
    return [UInt8](unsafeUninitializedCapacity: 32) { text, count in
      // Safe: 32 digits are written, and no more.
      for digit in 0..<16 {
        let shift = UInt64(60 - 4 * digit)
        text[digit] = digitText(UInt8(truncatingIfNeeded: high >> shift) & 15)
        text[digit + 16] = digitText(UInt8(truncatingIfNeeded: low >> shift) & 15)
      }
      count = 32
    }
  }

  @inline(__always)
  private static func digitText(_ digit: UInt8) -> UInt8 { digit &+ (digit < 10 ? 0x30 : 0x57) }

  private static let pool = Locked(Pool())

  private struct Pool: Sendable {
    private var octets: [UInt8] = []

    mutating func take() -> (UInt64, UInt64) {
      if octets.isEmpty { refill() }
      let taken = (word(before: octets.count - 8), word(before: octets.count))
      octets.removeLast(16)
      return taken
    }

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
}
