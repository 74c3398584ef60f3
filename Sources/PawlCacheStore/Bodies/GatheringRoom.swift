import PawlBase

/// Memory in which small bodies are gathered: so much for all of a cache.
final class GatheringRoom: Sendable {
  /// Bytes that a body whose length nobody knows takes at first.
  static let unknown: UInt64 = 64 << 10

  /// Arrays from so many bytes on are used again and again: getting memory for each costs more than all else that is done with it.
  private static let leastKept = 32 << 10
  /// So many are kept for that.
  private static let mostKept = 8

  private let limit: UInt64
  private let taken = Locked<UInt64>(0)
  private let kept = Locked([[UInt8]]())

  init(limit: UInt64) { self.limit = limit }

  /// Room for so many bytes; `nil` where there is none.
  func take(_ bytes: UInt64) -> GatheringShare? { grow(by: bytes) ? GatheringShare(self, bytes) : nil }

  fileprivate func grow(by bytes: UInt64) -> Bool {
    taken.withLock { taken in
      guard taken + bytes <= limit else { return false }
      taken += bytes
      return true
    }
  }

  /// An empty array with room for so many bytes.
  func bytes(capacity: Int) -> [UInt8] {
    var bytes = kept.withLock { kept -> [UInt8]? in
      guard capacity >= Self.leastKept else { return nil }
      return kept.lastIndex { $0.capacity >= capacity }.map { kept.remove(at: $0) }
    }
    if bytes != nil {
      bytes?.removeAll(keepingCapacity: true)
      return bytes ?? []
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
  func giveBack(_ bytes: [UInt8]) {
    guard bytes.capacity >= Self.leastKept else { return }
    kept.withLock { if $0.count < Self.mostKept { $0.append(bytes) } }
  }

  fileprivate func giveBack(_ bytes: UInt64) { taken.withLock { $0 -= bytes } }
}

/// One body's part of it, which goes back with the last one who has it. Behind the body's mutex.
final class GatheringShare: @unchecked Sendable {
  // Safe: touched by who has the body's lock, and at the end.
  private let room: GatheringRoom
  private var bytes: UInt64

  fileprivate init(_ room: GatheringRoom, _ bytes: UInt64) { (self.room, self.bytes) = (room, bytes) }

  deinit { room.giveBack(bytes) }

  /// Whether there is room for so many bytes of the body; more is taken where that is needed.
  func covers(_ count: UInt64) -> Bool {
    guard count > bytes else { return true }
    let more = max(count, bytes * 2) - bytes
    guard room.grow(by: more) else { return false }
    bytes += more
    return true
  }
}
