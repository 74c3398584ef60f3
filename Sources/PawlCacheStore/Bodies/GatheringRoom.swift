import PawlBase

/// The memory in which small bodies are gathered, with one limit for all bodies of a cache.
final class GatheringRoom: Sendable {
  /// The bytes that a body of unknown length takes at first.
  static let unknown: UInt64 = 64 << 10

  /// Arrays with a capacity of at least this many bytes are reused, because allocating memory for each body would cost more than
  /// all other work on the body.
  private static let leastKept = 32 << 10
  /// The most arrays that are kept for reuse.
  private static let mostKept = 8

  private let limit: UInt64
  private let taken = Locked<UInt64>(0)
  private let kept = Locked([[UInt8]]())

  init(limit: UInt64) { self.limit = limit }

  /// Reserves memory for `bytes` bytes; `nil` if the limit is reached.
  func take(_ bytes: UInt64) -> GatheringShare? { grow(by: bytes) ? GatheringShare(self, bytes) : nil }

  fileprivate func grow(by bytes: UInt64) -> Bool {
    taken.withLock { taken in
      guard taken + bytes <= limit else { return false }
      taken += bytes
      return true
    }
  }

  /// Returns an empty array with this capacity in bytes.
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

  /// Keeps an array that is not needed any more, so that it can be reused.
  func giveBack(_ bytes: [UInt8]) {
    guard bytes.capacity >= Self.leastKept else { return }
    kept.withLock { if $0.count < Self.mostKept { $0.append(bytes) } }
  }

  fileprivate func giveBack(_ bytes: UInt64) { taken.withLock { $0 -= bytes } }
}

/// One body's share of the gathering memory. The memory is given back when the last reference to the share is dropped. Protected
/// by the body's mutex.
final class GatheringShare: @unchecked Sendable {
  // Safe: used only with the body's lock held, and in `deinit`.
  private let room: GatheringRoom
  private var bytes: UInt64

  fileprivate init(_ room: GatheringRoom, _ bytes: UInt64) { (self.room, self.bytes) = (room, bytes) }

  deinit { room.giveBack(bytes) }

  /// Returns whether the share covers `count` bytes of the body. Enlarges the share if necessary.
  func covers(_ count: UInt64) -> Bool {
    guard count > bytes else { return true }
    let more = max(count, bytes * 2) - bytes
    guard room.grow(by: more) else { return false }
    bytes += more
    return true
  }
}
