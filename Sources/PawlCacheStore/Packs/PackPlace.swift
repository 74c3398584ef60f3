/// Where an object lies in the packs: which pack, from which byte on, and how many bytes. 60 bits, so that the index keeps it in one
/// word beside the hash of the key.
struct PackPlace: Hashable, Sendable {
  /// Records begin at multiples of so many bytes, and are padded to them.
  static let unit = 64
  /// The most bytes of one pack.
  static let packLimit = 1 << (offsetBits + 6)
  /// The most bytes of one record.
  static let recordLimit = large + (half - 1) * largeUnit
  /// The most packs that are ever made in one cache: 16 PiB of objects.
  static let numberLimit: UInt32 = 1 << 26

  /// A record of so many bytes, and a larger one, is padded to these: so the size of one that is twenty times as large fits into the same bits.
  private static let large = half * unit
  private static let largeUnit = 1024
  /// Of the numbers that say a size, the lower half are those of small ones.
  private static let half = 1 << (sizeBits - 1)

  private static let sizeBits = 12
  private static let offsetBits = 22

  /// The lowest 60.
  let bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  /// - Parameters:
  ///   - pack: its number, below ``numberLimit``.
  ///   - offset: in bytes, a multiple of ``unit`` below ``packLimit``.
  ///   - size: in bytes, at most ``recordLimit``. What is not ``padded(_:)`` counts as if it were.
  init(pack: UInt32, offset: Int, size: Int) {
    bits =
      UInt64(pack) << UInt64(Self.offsetBits + Self.sizeBits) | UInt64(offset / Self.unit) << UInt64(Self.sizeBits)
      | UInt64(Self.code(of: size))
  }

  /// So many bytes, and as many more as make a size of a record.
  static func padded(_ size: Int) -> Int { self.size(of: code(of: size)) }

  private static func code(of size: Int) -> Int {
    guard size > large - unit else { return (size + unit - 1) / unit }
    return half + (max(0, size - large) + largeUnit - 1) / largeUnit
  }

  private static func size(of code: Int) -> Int {
    code < half ? code * unit : large + (code - half) * largeUnit
  }

  var pack: UInt32 { UInt32(truncatingIfNeeded: bits >> UInt64(Self.offsetBits + Self.sizeBits)) }
  var offset: Int { Int(bits >> UInt64(Self.sizeBits) & (1 << UInt64(Self.offsetBits) - 1)) * Self.unit }
  var size: Int { Self.size(of: Int(bits & (1 << UInt64(Self.sizeBits) - 1))) }
}
