import CLinux
import PawlBase

/// Random bytes from the kernel (`getrandom(2)`), good enough for tokens and entity tags.
package enum Randomness {
  package static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
      filled = count
    }
  }

  package static func uint64() -> UInt64 {
    var value: UInt64 = 0
    withUnsafeMutableBytes(of: &value) { fill($0) }
    return value
  }

  /// Returns 128 random bits. One system call fetches the numbers for many calls of this function. From any thread.
  package static func uint128() -> (high: UInt64, low: UInt64) {
    stock.withLock { stock in
      if stock.count < 2 {
        stock = (0..<stockSize).map { _ in 0 }
        stock.withUnsafeMutableBytes { fill($0) }
      }
      // Each number is returned once and removed.
      return (stock.removeLast(), stock.removeLast())
    }
  }

  private static let stockSize = 256
  private static let stock = Locked([UInt64]())

  private static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    var filled = 0
    while filled < buffer.count {
      let got = getrandom(buffer.baseAddress.map { $0 + filled }, buffer.count - filled, 0)
      // Only a signal can make `getrandom` fail: without flags the kernel never refuses a valid buffer.
      precondition(got >= 0 || pawl_errno() == EINTR, "getrandom(2) is missing")
      filled += max(0, got)
    }
  }
}
