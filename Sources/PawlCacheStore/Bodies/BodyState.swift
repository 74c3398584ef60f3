import PawlCache
import PawlDisk
import PawlLoop

/// Everything about a body that changes; behind the body's mutex. Where it is in its life is said by ``BodyContent``,
/// ``BodyStanding``, ``BodyReport``, ``BodySync``, ``BodyMemory`` and ``BodyGrowth``, none of which follows from another.
///
/// Three flags are left, which are facts and no life: two of its tags, and that the store has noted its use.
struct BodyState {
  var total: UInt64?
  var content = BodyContent.filling

  /// On disk, as far as this process or the catalogue knows.
  var held = HeldBytes()
  /// Of these: written by this process, or read back and found as they were recorded.
  var verified = HeldBytes()
  var heldCount: UInt64 = 0
  /// Being written at this moment.
  var claims: [Range<UInt64>] = []
  var segments = SegmentTable()
  /// Were held, and were found damaged or gone.
  var lost = LostSegments()
  /// Of these, what was mended since it was last told of.
  var mended: Range<UInt64>?
  var open: [OpenSegment] = []
  var descriptor: BodyDescriptor?
  /// Where its bytes are.
  var place = BodyPlace.file { didSet { if !place.isGathering { gatheringShare = nil } } }
  /// Those that are in memory alone, while ``place`` says so: nobody reads them yet.
  var gathered: [UInt8] = []
  var gatheringShare: GatheringShare?
  /// Decides the answer that is kept with a record.
  var decides: (@Sendable (StoredBody) -> PackedAnswer?)?
  /// The file as it was left by the last write here, or found when it was first looked at; `nil`: not known.
  var stamp: FileStamp?
  var fileChange = FileChange()
  /// When it was last looked at (``FileStamp/moment(_:)``).
  var lookedAt = UInt64.max
  /// Counts writes to the file, and those that are under way.
  var writes: UInt64 = 0
  var writing = 0
  var memory: [UInt8]?
  var memoryUse = BodyMemory.none
  var usesOutsideMemory: UInt64 = 0
  /// Whether it was ever counted among those in memory.
  var wasAdmitted = false

  /// Changes of what is recorded of it, while it is in a pack, and who waits for them.
  var edits: [CatalogueChange] = []
  var edited: [@Sendable (Bool) -> Void] = []
  /// A new record is being written.
  var isEditing = false

  /// Room promised to this body, not written yet.
  var reservation: UInt64 = 0
  var writtenHere: UInt64 = 0
  var growth = BodyGrowth.idle

  // Recording
  /// Under which key it was published.
  var home: CacheKey?
  var standing = BodyStanding.unpublished
  /// Its row, where the catalogue may not have it yet and the ledger has not either.
  var birth: (row: ObjectRow, tags: [TagRecord])?
  var report = BodyReport.clean
  var sync = BodySync.never
  var sequence: UInt64 = 0
  /// Segments recorded up to here are on the disk.
  var syncedSequence: UInt64 = 0
  var unrecorded: [SegmentRecord] = []
  var unrecordedBytes: UInt64 = 0
  var unsyncedBytes: UInt64 = 0

  // Who is here
  var readers: [ObjectIdentifier: UInt64] = [:]
  var waiters: [BodyWaiter] = []
  var wakes: [LoopWake] = []
  /// By the offset of the segment being read.
  var checks: [UInt64: [LoopReply<CheckOutcome>]] = [:]
  var fill: AnyObject?
  var lastTouch: UInt64 = 0
  var warmth = PageWarmth()

  var tags: [TagRecord] = []
  /// Whether anybody may have been told the first of them.
  var isTagTold = false
  /// The newer body that was proven equal up to there: what tags this one is given later are that one's, too.
  var heir: (body: StoredBody, limit: UInt64, isWhole: Bool)?
  /// Whether the origin's own validator names these bytes: their tags hold everywhere.
  var hasStrongValidator = false
  var window: MemoryWindow?

  /// The same content as pawl has coded it, one of each coding.
  var forms: [CodedForm] = []
  /// The body of which this is such a form; `nil`: it came from an origin.
  var base: WeakStoredBody?
  /// See ``StoredBody/flushes``.
  var flushes: [UInt64] = []
  /// See ``StoredBody/isSteady``.
  var isSteady = false

  var uses: UInt64 = 0
  var lastUsed: Int64 = 0
  var isUseNoted = false
  /// Of ``uses``, when it was looked at last for what goes of too many variants.
  var usesSeen: UInt64 = 0

  /// What stored it was one use.
  var wasUsedSinceStored: Bool { uses > 1 }

  /// Whether all bytes are held; of a body that has failed, were.
  var isComplete: Bool { content.isComplete }
  var failure: BodyFailure? { content.failure }
  /// To be found, and to be recorded.
  var isPublished: Bool { standing == .published }
  var isDoomed: Bool { standing == .doomed }

  /// Nobody reads, fills, writes or syncs it.
  var isIdle: Bool {
    !place.isGathering && !isEditing && readers.isEmpty && fill == nil && claims.isEmpty && checks.isEmpty
      && waiters.isEmpty && !sync.isRunning
  }

  /// What of `range` is neither held nor being written.
  func missing(in range: Range<UInt64>) -> [Range<UInt64>] {
    guard !claims.isEmpty else { return held.gaps(in: range) }
    var taken = held
    for claim in claims { taken.insert(claim) }
    return taken.gaps(in: range)
  }

  func availability(at position: UInt64) -> StoredBody.Availability {
    if let failure { return .failed(failure) }
    if let memory, position < memory.count { return .bytes(until: UInt64(memory.count)) }
    let verifiedEnd = verified.contiguousEnd(from: position)
    if verifiedEnd > position { return descriptor == nil ? .checking : .bytes(until: verifiedEnd) }
    if held.contiguousEnd(from: position) > position { return .checking }
    if let window, window.range.contains(position) { return .bytes(until: window.range.upperBound) }
    if let total, position >= total { return .ended }
    if let window, window.hasPassed(position) { return .failed(.notKept) }
    return .missing
  }

  /// Held, or lost and to be known again by its digest.
  var provable: HeldBytes {
    var all = held
    for record in lost.records { all.insert(record.range) }
    return all
  }

  /// Bytes that the catalogue has digests of, or will have: they occupy the file, damaged or not.
  var occupied: UInt64 { heldCount + lost.bytes }

  /// Takes the trust back from all bytes that have a digest: they are compared with it before use.
  mutating func distrust() {
    closeAllSegments()
    let known = HeldBytes(segments.records.lazy.map(\.range))
    var loose = HeldBytes()
    for run in verified.intervals {
      for gap in known.gaps(in: run) { loose.insert(gap) }
    }
    verified = loose
    warmth.clear()
  }

  /// Takes the digest of an open segment that ends here out of the list, or begins one.
  mutating func takeSegment(continuing position: UInt64) -> OpenSegment {
    if let index = open.lastIndex(where: { $0.continues(at: position) }) { return open.remove(at: index) }
    return OpenSegment(start: position)
  }

  /// Puts a segment back; full ones, and the oldest of too many, are closed.
  mutating func giveBack(_ segment: OpenSegment) {
    guard segment.end > segment.start else { return }
    if segment.isFull { return close(segment) }
    open.append(segment)
    if open.count > 32 { close(open.removeFirst()) }
  }

  private mutating func close(_ segment: OpenSegment) {
    let record = segment.record(sequence: 0)
    // Claims keep segments disjoint; were that broken, the bytes would be dropped, not trusted.
    guard segments.insert(record) else { return verified.remove(record.range) }
    if segment.recordedEnd < segment.end { unrecorded.append(record) }
  }

  mutating func closeAllSegments() {
    for segment in open { close(segment) }
    open = []
  }

  var hasUnrecorded: Bool { !unrecorded.isEmpty || open.contains { $0.recordedEnd < $0.end } }

  /// The rows that bring the catalogue up to date.
  mutating func takeRecords() -> [SegmentRecord] {
    sequence += 1
    var records = unrecorded
    unrecorded = []
    unrecordedBytes = 0
    for segment in open where segment.recordedEnd < segment.end {
      records.append(segment.record(sequence: sequence))
      segment.recordedEnd = segment.end
    }
    for index in records.indices { records[index].sequence = sequence }
    return records
  }

  /// What was written since the last sync cannot be vouched for: it is compared with its digests before use.
  mutating func demoteUnsynced(after synced: UInt64) {
    closeAllSegments()
    let suspects = unrecorded + segments.records.filter { $0.sequence > synced || $0.sequence == 0 }
    for record in suspects { verified.remove(record.range) }
    dropMemory()
  }

  /// The copy in memory is no good, or the memory is for others.
  mutating func dropMemory() {
    memory = nil
    memoryUse.wasDropped()
  }

  /// Lets the tags match only up to `end`, unless the origin's validator vouches for the rest.
  /// - Returns: whether any changed.
  mutating func limitTags(to end: UInt64) -> Bool {
    guard !hasStrongValidator else { return false }
    var hasChanged = false
    for index in tags.indices where tags[index].limit > end {
      tags[index].limit = end
      hasChanged = true
    }
    return hasChanged
  }
}

/// A reader that waits for the state at its position to change.
struct BodyWaiter {
  let token: ObjectIdentifier
  let position: UInt64
  let loop: EventLoop
  let ready: LoopReply<Void>
}

/// What one loop is to be told; scheduled once until it has looked.
struct LoopWake {
  let loop: EventLoop
  var ready: [(token: ObjectIdentifier, callback: LoopReply<Void>)]
  var isScheduled: Bool
}

/// Why the readers of a body cannot have the rest of it.
package enum BodyFailure: Error, Hashable, Sendable {
  /// The origin broke off and could not be resumed; the text says how.
  case origin(String)
  /// The origin's content is another one now.
  case changed(String)
  /// The bytes wanted passed by in memory and were never on disk.
  case notKept
  /// The file is missing, corrupt or cannot be opened.
  case disk(String)
  /// The object was taken out of the cache.
  case removed
}
