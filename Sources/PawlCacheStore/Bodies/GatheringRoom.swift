import PawlBase

/// Memory in which small bodies are gathered: so much for all of a cache.
final class GatheringRoom: Sendable {
  /// Octets that a body whose length nobody knows takes at first.
  static let unknown: UInt64 = 64 << 10

  /// Arrays from so many octets on are used again and again: getting memory for each costs more than all else that is done with it.
  private static let leastKept = 32 << 10
  /// So many are kept for that.
  private static let mostKept = 8

  private let limit: UInt64
  private let taken = Locked<UInt64>(0)
  private let kept = Locked([[UInt8]]())

  init(limit: UInt64) { self.limit = limit }

  /// Room for so many octets; `nil` where there is none.
  func take(_ octets: UInt64) -> GatheringShare? { grow(by: octets) ? GatheringShare(self, octets) : nil }

  fileprivate func grow(by octets: UInt64) -> Bool {
    taken.withLock { taken in
      guard taken + octets <= limit else { return false }
      taken += octets
      return true
    }
  }

  /// An empty array with room for so many octets.
  func octets(capacity: Int) -> [UInt8] {
    var octets = kept.withLock { kept -> [UInt8]? in
      guard capacity >= Self.leastKept else { return nil }
      return kept.lastIndex { $0.capacity >= capacity }.map { kept.remove(at: $0) }
    }
    if octets != nil {
      octets?.removeAll(keepingCapacity: true)
      return octets ?? []
    }
    var made: [UInt8] = []
    var room = capacity
    if capacity >= Self.leastKept {
      room = Self.leastKept
      while room < capacity { room *= 2 }
    }
    made.reserveCapacity(room)
    return made
  }

  /// An array that is not needed any more.
  func giveBack(_ octets: [UInt8]) {
    guard octets.capacity >= Self.leastKept else { return }
    kept.withLock { if $0.count < Self.mostKept { $0.append(octets) } }
  }

  fileprivate func giveBack(_ octets: UInt64) { taken.withLock { $0 -= octets } }
}

/// One body's part of it, which goes back with the last one who has it. Behind the body's mutex.
final class GatheringShare: @unchecked Sendable {
  // Safe: touched by who has the body's lock, and at the end.
  private let room: GatheringRoom
  private var octets: UInt64

  fileprivate init(_ room: GatheringRoom, _ octets: UInt64) { (self.room, self.octets) = (room, octets) }

  deinit { room.giveBack(octets) }

  /// Whether there is room for so many octets of the body; more is taken where that is needed.
  func covers(_ count: UInt64) -> Bool {
    guard count > octets else { return true }
    let more = max(count, octets * 2) - octets
    guard room.grow(by: more) else { return false }
    octets += more
    return true
  }
}
