/// The kinds of stored bodies when room is made; the first kinds are evicted first.
package enum EvictionClass: UInt8, Comparable, Hashable, Sendable {
  /// Replaced by a newer response, and kept for clients that hold a part of it (`resume-ttl`).
  case superseded
  /// Incomplete, or private and past its time.
  case partial
  case complete

  package static func < (a: EvictionClass, b: EvictionClass) -> Bool { a.rawValue < b.rawValue }
}

/// The value of keeping a stored body; the body with the smallest score is evicted first.
package struct EvictionScore: Comparable, Hashable, Sendable {
  package let objectClass: EvictionClass
  /// Uses per second of idleness, weighted by what one byte of room saves.
  package let worth: Double

  /// - Parameters:
  ///   - idle: seconds since the last use, or since it was stored.
  ///   - uses: how often it was used.
  ///   - size: bytes it occupies.
  package init(_ objectClass: EvictionClass, idle: Int64, uses: UInt64, size: UInt64) {
    self.objectClass = objectClass
    // A hit saves the request to the origin, worth as much as the transfer of 256 KiB, and the bytes themselves. For each byte of
    // room that is 1 + 256 KiB / size. The added minute keeps a burst of new objects from evicting each other.
    let bytes = Double(max(size, 4096))
    let savedForEachByte = 1 + Double(256 << 10) / bytes
    worth = (Double(uses) + 1) * savedForEachByte / (Double(max(idle, 0)) + 60)
  }

  package static func < (a: EvictionScore, b: EvictionScore) -> Bool {
    (a.objectClass, a.worth) < (b.objectClass, b.worth)
  }
}
