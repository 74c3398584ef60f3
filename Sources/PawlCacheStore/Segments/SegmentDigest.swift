import CXXHash

/// The XXH3-64 of bytes as they are written: a running digest that can be read at any time.
final class SegmentDigest {
  private let state: OpaquePointer

  init() {
    // Fails only if no memory is left. In that case Swift itself also stops the process.
    guard let state = XXH3_createState() else { preconditionFailure("out of memory") }
    self.state = state
    XXH3_64bits_reset(state)
  }

  deinit { XXH3_freeState(state) }

  func update(_ bytes: UnsafeRawBufferPointer) { XXH3_64bits_update(state, bytes.baseAddress, bytes.count) }

  /// The digest of all bytes so far.
  var value: UInt64 { XXH3_64bits_digest(state) }

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }

  /// Hashes both parts of a cache key with the catalogue's seed, without joining them, for the index. Also computes the checksums
  /// of records; the two parts are then the head and the metadata.
  static func key(_ authority: UnsafeRawBufferPointer, _ target: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let first = XXH3_64bits_withSeed(authority.baseAddress, authority.count, seed)
    return XXH3_64bits_withSeed(target.baseAddress, target.count, first)
  }
}
