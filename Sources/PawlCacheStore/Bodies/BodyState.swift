import PawlCache
import PawlDisk
import PawlLoop

/// Everything about a body that changes, protected by the body's mutex. ``BodyContent``, ``BodyPublication``, ``BodyReport``,
/// ``BodySync``, ``BodyMemory`` and ``BodyGrowth`` are its states. They are independent of each other.
///
/// Besides these states there are flags, each of which is a single fact: ``isTagSent``, ``hasStrongValidator``, ``isUseNoted``,
/// ``wasAdmitted``, ``isEditing`` and ``isSteady``.
struct BodyState {
  var total: UInt64?
  var content = BodyContent.filling

  /// The ranges on disk that this process has written or the catalogue has recorded.
  var held = HeldBytes()
  /// The part of ``held`` that this process has written, or has read back and found equal to its digests.
  var verified = HeldBytes()
  var heldCount: UInt64 = 0
  /// Ranges that are being written now.
  var claims: [Range<UInt64>] = []
  var segments = SegmentTable()
  /// Segments that were held and were found damaged or missing.
  var lost = LostSegments()
  /// The range that was mended and is not logged yet.
  var mended: Range<UInt64>?
  var open: [OpenSegment] = []
  var descriptor: BodyDescriptor?
  /// The place of the bytes.
  var place = BodyPlace.file { didSet { if !place.isGathering { gatheringShare = nil } } }
  /// The bytes of a body that is being gathered (``BodyPlace/isGathering``). They are in memory only, and readers do not get them
  /// yet.
  var gathered: [UInt8] = []
  var gatheringShare: GatheringShare?
  /// The function that decides which answer is stored with the record in a pack.
  var decides: (@Sendable (StoredBody) -> PackedAnswer?)?
  /// The stamp of the file after the last write by this process, or when it was first checked; `nil`: unknown.
  var stamp: FileStamp?
  var fileChange = FileChange()
  /// When the file was last checked (``FileStamp/moment(_:)``); `.max`: never.
  var lookedAt = UInt64.max
  /// The number of writes to the file so far, and the number of those that are running.
  var writes: UInt64 = 0
  var writing = 0
  var memory: [UInt8]?
  var memoryUse = BodyMemory.none
  var usesOutsideMemory: UInt64 = 0
  /// Whether the body was ever admitted to ``MemoryBodies``.
  var wasAdmitted = false

  /// Changes to the record of a body in a pack that are not written yet, and the completions that wait for them.
  var edits: [CatalogueChange] = []
  var edited: [@Sendable (Bool) -> Void] = []
  /// Whether a new record is being written.
  var isEditing = false

  /// Bytes of the disk budget that are reserved for this body and not written yet.
  var reservation: UInt64 = 0
  var writtenHere: UInt64 = 0
  var growth = BodyGrowth.idle

  // Recording
  /// The cache key under which the body was published.
  var home: CacheKey?
  var standing = BodyPublication.unpublished
  /// The body's row and tags, until the catalogue, the ledger or a pack has them.
  var birth: (row: ObjectRow, tags: [TagRecord])?
  var report = BodyReport.clean
  var sync = BodySync.never
  var sequence: UInt64 = 0
  /// Segments that were recorded with this sequence number or a lower one are synced to the disk.
  var syncedSequence: UInt64 = 0
  var unrecorded: [SegmentRecord] = []
  var unrecordedBytes: UInt64 = 0
  var unsyncedBytes: UInt64 = 0

  // Readers, waiters and fill
  var readers: [ObjectIdentifier: UInt64] = [:]
  var waiters: [ObjectIdentifier: BodyWaiter] = [:]
  var wakes: [LoopWake] = []
  /// The replies that wait for a check, by the offset of the segment that is being read.
  var checks: [UInt64: [LoopReply<CheckOutcome>]] = [:]
  var fill: AnyObject?
  var lastTouch: UInt64 = 0
  var warmth = PageWarmth()

  var tags: [TagRecord] = []
  /// Whether the first of ``tags`` may have been sent to a client.
  var isTagSent = false
  /// The newer body that was found equal to this one up to `limit`. Tags that this body gets later are added to the newer body,
  /// too.
  var heir: (body: StoredBody, limit: UInt64, isWhole: Bool)?
  /// Whether the origin's own validator is strong. Then the tags are valid for all bytes, held or not.
  var hasStrongValidator = false
  var window: MemoryWindow?

  /// The coded forms of this body, one for each content coding.
  var forms: [CodedForm] = []
  /// The body from which this coded form was made; `nil` if this body came from an origin.
  var base: WeakStoredBody?
  /// See ``StoredBody/flushes``.
  var flushes: [UInt64] = []
  /// See ``StoredBody/isSteady``.
  var isSteady = false

  var uses: UInt64 = 0
  var lastUsed: Int64 = 0
  var isUseNoted = false
  /// The value of ``uses`` when ``StoredBody/isUnusedVariant()`` was last called.
  var usesSeen: UInt64 = 0

  /// Whether the body was used again after the request that stored it. That request counts as one use.
  var wasUsedSinceStored: Bool { uses > 1 }

  /// Whether all bytes are held. For a failed body: whether they were held when it failed.
  var isComplete: Bool { content.isComplete }
  var failure: BodyFailure? { content.failure }
  /// Whether look-ups find the body. If so, its changes are recorded.
  var isPublished: Bool { standing == .published }
  var isDoomed: Bool { standing == .doomed }

  /// Whether the body has no reader, fill, write, check, wait or sync.
  var isIdle: Bool {
    !place.isGathering && !isEditing && readers.isEmpty && fill == nil && claims.isEmpty && checks.isEmpty
      && waiters.isEmpty && !sync.isRunning
  }

  /// The parts of `range` that are neither held nor being written.
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

  /// The bytes that are held, or lost with a known digest by which they can be proven when they come again.
  var provable: HeldBytes {
    var all = held
    for record in lost.records { all.insert(record.range) }
    return all
  }

  /// The number of bytes that have a digest in the catalogue, or will have one. They occupy the file, damaged or not.
  var occupied: UInt64 { heldCount + lost.bytes }

  /// Marks all bytes that have a digest as unverified, so that they are compared with their digests before they are used.
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

  /// Takes the open segment that ends at `position` out of the list, or begins a new one.
  mutating func takeSegment(continuing position: UInt64) -> OpenSegment {
    if let index = open.lastIndex(where: { $0.continues(at: position) }) { return open.remove(at: index) }
    return OpenSegment(start: position)
  }

  /// Puts a segment back into the list. Closes a full one, and the oldest one if there are more than 32.
  mutating func giveBack(_ segment: OpenSegment) {
    guard segment.end > segment.start else { return }
    if segment.isFull { return close(segment) }
    open.append(segment)
    if open.count > 32 { close(open.removeFirst()) }
  }

  private mutating func close(_ segment: OpenSegment) {
    let record = segment.record(sequence: 0)
    // Segments do not overlap, because each writer claims its ranges first (`claims`). If a segment overlaps nevertheless, its
    // bytes are not trusted.
    guard segments.insert(record) else { return verified.remove(record.range) }
    if segment.recordedEnd < segment.end { unrecorded.append(record) }
  }

  mutating func closeAllSegments() {
    for segment in open { close(segment) }
    open = []
  }

  var hasUnrecorded: Bool { !unrecorded.isEmpty || open.contains { $0.recordedEnd < $0.end } }

  /// Returns the segments that the catalogue does not have yet, and marks them as recorded.
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

  /// Marks the bytes that were written since the last sync as unverified, so that they are compared with their digests before
  /// they are used.
  mutating func demoteUnsynced(after synced: UInt64) {
    closeAllSegments()
    let suspects = unrecorded + segments.records.filter { $0.sequence > synced || $0.sequence == 0 }
    for record in suspects { verified.remove(record.range) }
    dropMemory()
  }

  /// Drops the copy in memory, because it is invalid or other bodies need the memory.
  mutating func dropMemory() {
    memory = nil
    memoryUse.wasDropped()
  }

  /// Limits the tags to the bytes up to `end`, unless the origin's validator is strong and proves the rest.
  /// - Returns: whether a tag has changed.
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

/// A reader that waits until the state at its position changes.
struct BodyWaiter {
  let position: UInt64
  let loop: EventLoop
  let ready: LoopReply<Void>
}

/// The callbacks that are to run on one loop, the earliest first. The loop is not scheduled again before it has run them.
struct LoopWake {
  let loop: EventLoop
  private var ready: [ObjectIdentifier: LoopReply<Void>] = [:]
  /// The tokens in their order, from `next`; those of cancelled waits are not in `ready` any more.
  private var order: [ObjectIdentifier] = []
  private var next = 0
  var isScheduled = false

  init(_ loop: EventLoop) { self.loop = loop }

  var isEmpty: Bool { ready.isEmpty }

  mutating func append(_ token: ObjectIdentifier, _ callback: LoopReply<Void>) {
    ready[token] = callback
    order.append(token)
  }

  mutating func cancel(_ token: ObjectIdentifier) -> LoopReply<Void>? { ready.removeValue(forKey: token) }

  /// Takes the earliest callback; `nil`: there is none.
  mutating func pop() -> LoopReply<Void>? {
    while next < order.count {
      defer { next += 1 }
      if let callback = ready.removeValue(forKey: order[next]) { return callback }
    }
    (order, next) = ([], 0)
    return nil
  }
}

/// The reason why the readers of a body cannot get the rest of it.
package enum BodyFailure: Error, Hashable, Sendable {
  /// The origin broke off and the transfer could not be resumed; the text says why.
  case origin(String)
  /// The content at the origin has changed.
  case changed(String)
  /// The bytes that the reader needs have passed through the memory window and were never written to the disk.
  case notKept
  /// The file is missing, corrupt or cannot be opened.
  case disk(String)
  /// The object was removed from the cache.
  case removed
}
