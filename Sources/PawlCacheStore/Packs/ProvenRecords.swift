package import PawlLoop

/// Which contents of one pack were read whole a moment ago, and were what was written: those are sent from where they lie, without being
/// read again. What anybody else does to the file shows in its stamp, and then all of them are to be proven anew.
struct ProvenRecords {
  /// Content of fewer bytes costs less to read, prove and send than to look this up and send from the file.
  static let least = 8 << 10

  /// The file as it was left; `nil`: nothing is proven.
  private var stamp: FileStamp?
  /// When it was looked at last (``FileStamp/moment(_:)``).
  private var lookedAt = UInt64.max
  /// By where a content begins: no two that are large enough begin in one part.
  private var seen = PageWarmth(span: UInt64(least))
  /// Counts the times that somebody else changed the file.
  private(set) var changes: UInt64 = 0

  /// Whether the content that begins there was proven in the last seconds, and the file is what it was then.
  mutating func has(_ base: UInt64, now: Monotonic, _ look: () -> FileStamp?) -> Bool {
    guard seen.isWarm(base..<base + 1, at: now.seconds) else { return false }
    return isSame(now, look)
  }

  /// Whether the file is what it was when something in it was proven.
  mutating func isSame(_ now: Monotonic, _ look: () -> FileStamp?) -> Bool {
    let moment = FileStamp.moment(now)
    if moment == lookedAt { return stamp != nil }
    guard let stamp, let found = look() else { return false }
    guard found == stamp else {
      forget()
      return false
    }
    lookedAt = moment
    return true
  }

  /// The content that begins there was read whole, and is what was written.
  /// - Parameter stamp: of the file, before it was read.
  mutating func note(_ base: UInt64, now: Monotonic, _ stamp: FileStamp) {
    if let known = self.stamp, known != stamp { forget() }
    self.stamp = stamp
    seen.note(base..<base + 1, at: now.seconds)
  }

  /// This process wrote to it, and changed no content.
  mutating func wrote(_ before: FileStamp?, _ after: FileStamp?) {
    if let stamp, stamp == before, let after { self.stamp = after }
  }

  private mutating func forget() {
    (stamp, lookedAt) = (nil, .max)
    changes += 1
    seen.clear()
  }
}

/// Content that is being sent from where it lies in a pack.
package struct RecordProof: Sendable {
  let pack: Pack
  let base: UInt64
  let count: Int
  let digest: UInt64
  /// ``ProvenRecords/changes`` when it was proven.
  let changes: UInt64

  /// Whether it still is what it was, as far as that can be told without waiting for the disk. On any loop.
  package func holds(now: Monotonic) -> Bool {
    if pack.isSame(now, changes) { return true }
    return pack.prove(base, count, digest, now: now) == true
  }
}

extension Pack {
  /// Whether the content that begins there can be sent from there as it is.
  func hasProven(_ base: UInt64, now: Monotonic) -> Bool {
    proven.withLock { $0.has(base, now: now) { FileStamp(of: descriptor) } }
  }

  /// Whether nobody else has changed the file since ``RecordProof/changes`` was that.
  func isSame(_ now: Monotonic, _ changes: UInt64) -> Bool {
    proven.withLock { $0.isSame(now) { FileStamp(of: descriptor) } && $0.changes == changes }
  }

  /// What was read of it just now is what was written.
  /// - Parameter stamp: of the file before that.
  func noteProven(_ base: UInt64, now: Monotonic, _ stamp: FileStamp?) {
    guard let stamp else { return }
    proven.withLock { $0.note(base, now: now, stamp) }
  }

  /// A record was written behind the others: its content is what was written.
  /// - Parameters:
  ///   - base: where its content begins, where that is known.
  ///   - before: the stamp of the file when that began. What anybody else does to it between the two is seen as a change later, or
  ///     not at all, as with a body's own file.
  func noteAppended(_ base: Int?, now: Monotonic, before: FileStamp?) {
    let after = FileStamp(of: descriptor)
    proven.withLock { proven in
      proven.wrote(before, after)
      if let base, let after { proven.note(UInt64(base), now: now, after) }
    }
  }

  /// Reads content and compares it. `nil` where the disk would have to be waited for. On any loop.
  func prove(_ base: UInt64, _ count: Int, _ digest: UInt64, now: Monotonic) -> Bool? {
    let stamp = FileStamp(of: descriptor)
    guard case .bytes(let bytes) = read(Int(base), count, waits: false) else { return nil }
    guard bytes.withUnsafeBytes({ SegmentDigest.of($0) }) == digest else { return false }
    noteProven(base, now: now, stamp)
    return true
  }

  func proof(_ base: UInt64, _ count: Int, _ digest: UInt64) -> RecordProof {
    RecordProof(pack: self, base: base, count: count, digest: digest, changes: proven.withLock { $0.changes })
  }
}
