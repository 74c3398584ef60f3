import CXXHash
import PawlLoop

/// An XXH3-128 hash of bytes that come in pieces. Its seed is random in each process, so that an attacker cannot construct a collision.
final class RunningHash {
  private static let seed = Randomness.uint64()
  private let state: OpaquePointer?

  init() {
    state = XXH3_createState()
    XXH3_128bits_reset_withSeed(state, Self.seed)
  }

  deinit { XXH3_freeState(state) }

  func update(_ bytes: UnsafeRawBufferPointer) { XXH3_128bits_update(state, bytes.baseAddress, bytes.count) }

  var digest: Digest {
    let hash = XXH3_128bits_digest(state)
    return Digest(low: hash.low64, high: hash.high64)
  }

  struct Digest: Hashable { var low: UInt64, high: UInt64 }
}
