import CLinux

/// Random octets from the kernel (`getrandom(2)`), fit for tokens and entity tags.
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

  private static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    var filled = 0
    while filled < buffer.count {
      let got = getrandom(buffer.baseAddress.map { $0 + filled }, buffer.count - filled, 0)
      // Only a signal can come in between; without flags the kernel never refuses a buffer of ours.
      precondition(got >= 0 || pawl_errno() == EINTR, "getrandom(2) is missing")
      filled += max(0, got)
    }
  }
}
