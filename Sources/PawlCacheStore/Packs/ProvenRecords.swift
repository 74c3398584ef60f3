package import PawlLoop

/// The contents of one pack that were read and found intact a moment ago. They are sent from the file without being read again.
/// If another process changes the file, its stamp is different; then all contents have to be proven (compared with their digests)
/// again.
struct ProvenRecords {
  /// The smallest content in bytes for which this is used. Smaller content is read, proven and sent each time, which costs less.
  static let least = 8 << 10

  /// The stamp of the file when a content was last proven or a record was last written; `nil`: nothing is proven.
  private var stamp: FileStamp?
  /// When the file was last checked (``FileStamp/moment(_:)``).
  private var lookedAt = UInt64.max
  /// The parts of the file in which a proven content begins. A part has ``least`` bytes. Only contents of at least that size are
  /// looked up here, and two such contents never begin in the same part.
  private var seen = PageWarmth(span: UInt64(least))
  /// Counts the changes by other processes.
  private(set) var changes: UInt64 = 0

  /// Whether the content that begins at `base` was proven in the last seconds and the file has not changed since.
  mutating func has(_ base: UInt64, now: Monotonic, _ look: () -> FileStamp?) -> Bool {
    guard seen.isWarm(base..<base + 1, at: now.seconds) else { return false }
    return isSame(now, look)
  }

  /// Whether the file is unchanged since something in it was proven.
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

  /// Notes that the content that begins at `base` was read and found intact.
  /// - Parameter stamp: the stamp of the file before the content was read.
  mutating func note(_ base: UInt64, now: Monotonic, _ stamp: FileStamp) {
    if let known = self.stamp, known != stamp { forget() }
    self.stamp = stamp
    seen.note(base..<base + 1, at: now.seconds)
  }

  /// Notes that this process wrote to the file without changing any content.
  mutating func wrote(_ before: FileStamp?, _ after: FileStamp?) {
    if let stamp, stamp == before, let after { self.stamp = after }
  }

  private mutating func forget() {
    (stamp, lookedAt) = (nil, .max)
    changes += 1
    seen.clear()
  }
}

/// A check that content is still unchanged while it is being sent from a pack.
package struct RecordProof: Sendable {
  let pack: Pack
  let base: UInt64
  let count: Int
  let digest: UInt64
  /// The value of ``ProvenRecords/changes`` when the content was proven.
  let changes: UInt64

  /// Whether the content is unchanged. Also `false` if checking that would wait for the disk. May be called on any loop.
  package func holds(now: Monotonic) -> Bool {
    if pack.isSame(now, changes) { return true }
    return pack.prove(base, count, digest, now: now) == true
  }
}

extension Pack {
  /// Whether the content that begins at `base` can be sent from the file as it is.
  func hasProven(_ base: UInt64, now: Monotonic) -> Bool {
    proven.withLock { $0.has(base, now: now) { FileStamp(of: descriptor) } }
  }

  /// Whether the file is unchanged and ``ProvenRecords/changes`` still has this value.
  func isSame(_ now: Monotonic, _ changes: UInt64) -> Bool {
    proven.withLock { $0.isSame(now) { FileStamp(of: descriptor) } && $0.changes == changes }
  }

  /// Notes that content was read and found intact.
  /// - Parameter stamp: the stamp of the file before the content was read.
  func noteProven(_ base: UInt64, now: Monotonic, _ stamp: FileStamp?) {
    guard let stamp else { return }
    proven.withLock { $0.note(base, now: now, stamp) }
  }

  /// Notes that pawl has added a record at the end of the file. Its content counts as proven.
  /// - Parameters:
  ///   - base: the offset of the record's content, if known.
  ///   - before: the stamp of the file before that write. If another process changes the file during the write, the stamp after
  ///     the write already contains that change. Then the change is found only when the changed content is next compared with its
  ///     digest. A body in a file of its own has the same gap.
  func noteAppended(_ base: Int?, now: Monotonic, before: FileStamp?) {
    let after = FileStamp(of: descriptor)
    proven.withLock { proven in
      proven.wrote(before, after)
      if let base, let after { proven.note(UInt64(base), now: now, after) }
    }
  }

  /// Reads content and compares it with its digest. May be called on any loop.
  /// - Returns: whether they agree; `nil` if this would wait for the disk.
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
