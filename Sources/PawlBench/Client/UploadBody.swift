import CXXHash
import PawlBase

/// Content for uploads: a block of bytes that is repeated.
package final class UploadBody: Sendable {
  let block: [UInt8]
  let size: UInt64
  /// The XXH3-64 digest of the content, in hexadecimal digits.
  let digestText: String

  /// The size of the largest block, in bytes. A larger block would only use more memory.
  static let blockSize = 4 << 20

  init(block: [UInt8], size: UInt64) {
    (self.block, self.size) = (block.isEmpty ? [0] : block, size)
    digestText = HashText.hexadecimal(HashText.digest(self.block, size))
  }

  /// Makes content from pseudorandom bytes. The same `seed` gives the same content.
  convenience init(size: UInt64, seed: UInt64) {
    var random = RandomNumbers(seed: seed, stream: 7)
    let count = Int(max(8, min(size, UInt64(Self.blockSize))))
    var block: [UInt8] = []
    block.reserveCapacity(count + 8)
    while block.count < count { withUnsafeBytes(of: random.next().littleEndian) { block.append(contentsOf: $0) } }
    block.removeLast(block.count - count)
    self.init(block: block, size: size)
  }

  /// Calls `body` with the bytes from `offset` on: at most `limit` bytes, and at most to the end of the block.
  func withBytes<R>(at offset: UInt64, atMost limit: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let start = Int(offset % UInt64(block.count))
    let count = Int(min(limit, UInt64(block.count - start)))
    return block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
  }
}

/// XXH3-64 digests in the form that clients and the test origin exchange.
enum HashText {
  /// Returns the digest of `size` bytes, in which the block is repeated.
  static func digest(_ block: [UInt8], _ size: UInt64) -> UInt64 {
    guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
    defer { XXH3_freeState(state) }
    XXH3_64bits_reset(state)
    var left = size
    while left > 0 {
      let count = min(left, UInt64(block.count))
      block.withUnsafeBytes { _ = XXH3_64bits_update(state, $0.baseAddress, Int(count)) }
      left -= count
    }
    return XXH3_64bits_digest(state)
  }

  static func hexadecimal(_ value: UInt64) -> String {
    String(decoding: (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }.hexadecimal, as: UTF8.self)
  }
}
