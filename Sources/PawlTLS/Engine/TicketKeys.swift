import COpenSSL
import PawlBase

/// The keys that encrypt session tickets (RFC 5077 §4): one set for all loops and contexts of a server, kept over reloads, and
/// rotated by time. Safe on any thread.
package final class TicketKeys: Sendable {
  struct Key: Sendable {
    /// The name of the key at the start of each ticket, 16 bytes.
    let name: [UInt8]
    /// The key of AES-256-CBC; `mac` is the key of HMAC-SHA-256.
    let cipher: [UInt8]
    let mac: [UInt8]
    let madeAt: Int64
  }

  /// How long a key encrypts new tickets, in seconds.
  package static let rotation: Int64 = 12 * 3600
  /// How long a key still decrypts old tickets after ``rotation``, in seconds.
  package static let grace: Int64 = 24 * 3600

  private let clock: @Sendable () -> Int64
  /// The keys, the newest last.
  private let keys = Locked<[Key]>([])

  /// - Parameter clock: seconds since 1970; may jump.
  package init(clock: (@Sendable () -> Int64)? = nil) { self.clock = clock ?? wallSeconds }

  var now: Int64 { clock() }

  /// The key for new tickets; `nil` when the system has no randomness.
  func current() -> Key? {
    let now = clock()
    return keys.withLock { keys in
      keys.removeAll { !Self.isAccepted($0, now) }
      if let last = keys.last, Self.isCurrent(last, now) { return last }
      guard let key = Self.make(now) else { return nil }
      keys.append(key)
      return key
    }
  }

  /// The key of a ticket, and whether it still encrypts new tickets; `nil` when it is unknown or too old.
  func find(_ name: UnsafeRawBufferPointer) -> (key: Key, isCurrent: Bool)? {
    let now = clock()
    return keys.withLock { keys in
      guard let key = keys.last(where: { $0.name.elementsEqual(name) }), Self.isAccepted(key, now) else { return nil }
      return (key, Self.isCurrent(key, now))
    }
  }

  /// Whether a key encrypts new tickets. A clock that was set back does not lengthen the time of a key.
  private static func isCurrent(_ key: Key, _ now: Int64) -> Bool { (0..<rotation).contains(now - key.madeAt) }
  private static func isAccepted(_ key: Key, _ now: Int64) -> Bool {
    (-rotation..<(rotation + grace)).contains(now - key.madeAt)
  }

  private static func make(_ now: Int64) -> Key? {
    var bytes = [UInt8](repeating: 0, count: 80)
    guard RAND_bytes(&bytes, 16) == 1, bytes.withUnsafeMutableBufferPointer({ fillSecret($0) }) else { return nil }
    return Key(name: Array(bytes[..<16]), cipher: Array(bytes[16..<48]), mac: Array(bytes[48...]), madeAt: now)
  }

  private static func fillSecret(_ bytes: UnsafeMutableBufferPointer<UInt8>) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    return RAND_priv_bytes(base + 16, 64) == 1
  }
}
