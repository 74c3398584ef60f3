/// The classes of stored bodies for eviction; bodies of an earlier class are evicted first.
package enum EvictionClass: UInt8, Comparable, Hashable, Sendable {
  /// Replaced by a newer response, and kept for clients that hold a part of it (`resume-ttl`).
  case superseded
  /// Incomplete, or private and expired.
  case partial
  case complete

  package static func < (a: EvictionClass, b: EvictionClass) -> Bool { a.rawValue < b.rawValue }
}

/// The value of keeping a stored body; the body with the smallest score is evicted first.
package struct EvictionScore: Comparable, Hashable, Sendable {
  package let objectClass: EvictionClass
  /// The uses per idle second, times the saving for each byte of space.
  package let worth: Double

  /// - Parameters:
  ///   - idle: the seconds since the body was last used or stored.
  ///   - uses: how often the body was used.
  ///   - size: the bytes that the body occupies.
  package init(_ objectClass: EvictionClass, idle: Int64, uses: UInt64, size: UInt64) {
    self.objectClass = objectClass
    // A hit saves the transfer of the bytes and a request to the origin; the request counts as much as a transfer of 256 KiB. For
    // each byte of space the saving is 1 + 256 KiB / size. A minute is added to the idle time, so that new bodies that come
    // together do not evict each other.
    let bytes = Double(max(size, 4096))
    let savedForEachByte = 1 + Double(256 << 10) / bytes
    worth = (Double(uses) + 1) * savedForEachByte / (Double(max(idle, 0)) + 60)
  }

  package static func < (a: EvictionScore, b: EvictionScore) -> Bool {
    (a.objectClass, a.worth) < (b.objectClass, b.worth)
  }
}
