import CXXHash

/// Content for uploads: a block of octets, repeated as often as it takes.
package final class UploadBody: Sendable {
  let block: [UInt8]
  let size: UInt64

  /// The largest block: more would only be memory that is touched.
  static let blockSize = 4 << 20

  init(block: [UInt8], size: UInt64) { (self.block, self.size) = (block, size) }

  /// Octets of `seed`, of which no part is like another of the same block.
  convenience init(size: UInt64, seed: UInt64) {
    var random = RandomNumbers(seed: seed, stream: 7)
    let count = Int(max(8, min(size, UInt64(Self.blockSize))))
    var block: [UInt8] = []
    block.reserveCapacity(count + 8)
    while block.count < count { withUnsafeBytes(of: random.next().littleEndian) { block.append(contentsOf: $0) } }
    block.removeLast(block.count - count)
    self.init(block: block, size: size)
  }

  /// Lends at most so many octets from `offset` on: fewer where the block begins again.
  func withOctets<R>(at offset: UInt64, atMost limit: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let start = Int(offset % UInt64(block.count))
    let count = Int(min(limit, UInt64(block.count - start)))
    return block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
  }

  /// XXH3-64 of all of it.
  func digest() -> UInt64 {
    guard let state = XXH3_createState() else { return 0 }
    defer { XXH3_freeState(state) }
    XXH3_64bits_reset(state)
    var offset: UInt64 = 0
    while offset < size {
      offset += withOctets(at: offset, atMost: size - offset) { octets in
        XXH3_64bits_update(state, octets.baseAddress, octets.count)
        return UInt64(octets.count)
      }
    }
    return XXH3_64bits_digest(state)
  }
}
