import CLinux

/// The identifier a request is given when it brought none: 32 hexadecimal digits, 128 random bits.
package struct RequestID {
  /// Never fails and never repeats in practice; costs one `getrandom(2)` in 256 calls.
  package static func make() -> [UInt8] {
    let octets = pool.withLock { $0.take() }
    var text: [UInt8] = []
    text.reserveCapacity(32)
    for octet in octets { text.append(hexadecimal: octet, uppercase: false) }
    return text
  }

  private static let pool = Locked(Pool())

  private struct Pool: Sendable {
    private var octets: [UInt8] = []

    mutating func take() -> [UInt8] {
      if octets.isEmpty { refill() }
      let taken = Array(octets.suffix(16))
      octets.removeLast(16)
      return taken
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
