import PawlBase
import PawlLoop

/// The name of one byte sequence on disk: 128 random bits, never used twice.
package struct ObjectID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  /// Returns a new name, from the kernel's random generator.
  package static func make() -> ObjectID {
    let (high, low) = Randomness.uint128()
    return ObjectID(high: high, low: low)
  }

  /// Parses 32 lower-case hexadecimal digits; `nil`: the text is anything else. Each name has exactly one spelling, so upper-case
  /// digits, which `hexValue` accepts, are refused.
  package init?(hex: some Collection<UInt8>) {
    guard hex.count == 32 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for (index, digit) in hex.enumerated() {
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit - 0x30
      case 0x61...0x66: value = digit - 0x61 + 10
      default: return nil
      }
      if index < 16 { halves.0 = halves.0 << 4 | UInt64(value) } else { halves.1 = halves.1 << 4 | UInt64(value) }
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// Reads 16 bytes, most significant first, as in the catalogue; `nil`: another number of bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    func word(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: word(bytes[..<8]), low: word(bytes[8...]))
  }

  /// The name as 16 bytes, most significant first.
  package var bytes: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  /// The name as 32 lower-case hexadecimal digits. The body's file has this name.
  package var hex: String {
    String(unsafeUninitializedCapacity: 32) { text in
      for index in 0..<32 {
        let digit = UInt8(truncatingIfNeeded: (index < 16 ? high : low) >> (60 - 4 * (UInt64(index) & 15))) & 15
        text[index] = .hexDigit(digit)
      }
      return 32
    }
  }
}
