import PawlDisk
import PawlLoop
import PawlUpload

/// The state of an upload in memory. Its lock is held for look-ups and updates only, never during IO.
struct UploadState {
  /// The row that is recorded next; its `offset` is the number of synced bytes.
  var row: UploadRow
  /// The number of bytes that count. They are the first bytes of the file.
  var written: UInt64
  /// The offset of the next byte. It is beyond `written` while content is being verified.
  var end: UInt64
  /// The number of bytes that are synced and durably recorded, and so may be told to clients.
  var durable: UInt64
  /// The number of bytes of the file that a sync has covered, including bytes that are being verified. It is only used to know how
  /// much the disk still has to write, and is neither recorded nor told to clients.
  var syncedEnd: UInt64

  // The record in the catalogue.
  var making = UploadMaking.new
  /// The number of changes of the row. `takenRevision` is the number at the commit under way, `durableRevision` at the last durable
  /// commit.
  var revision: UInt64 = 1
  var takenRevision: UInt64 = 0
  var durableRevision: UInt64 = 0
  var takenOffset: UInt64 = 0
  var transition: UploadTransition?
  /// Transitions that wait for ``transition``, the one under way.
  var queue: [UploadTransition] = []
  /// Whether another process delivers the upload (``SpooledUpload/take(_:then:)``).
  var isLent = false

  // The right to write, and what is written.
  var hold = WritingRight<PendingHold>()
  /// The offset at which the file has to be cut before the next write.
  var goBack: UInt64?
  /// Bytes that are promised (reserved) for the holder of the right to write.
  var promise: UInt64 = 0
  /// When the right to write was last granted, or used.
  var lastWrite = Monotonic(nanoseconds: 0)
  /// When the last bytes came.
  var lastByte = Monotonic(nanoseconds: 0)
  /// When the phase last changed; zero: not in this process.
  var lastChange = Monotonic(nanoseconds: 0)
  /// The time before which the upload is not removed, even if it has expired by the wall clock. It is a monotonic time, because
  /// the wall clock may be set forward.
  var notBefore = Monotonic(nanoseconds: 0)
  /// The kind of upload by which it counts against the limits of its client.
  var place: UploadBudget.Place

  /// The size of the upload's record (``UploadRecord``) that the budget has counted.
  var kept: UInt64 = 0
  /// The size of the upload's answer, while the answer is kept.
  var answerSize: UInt64 = 0

  // The file.
  var charge: DiskCharge
  /// The descriptor, which is kept while any other object retains it, so that the file is not opened a second time.
  var descriptor: UploadDescriptor?
  var file = UploadFileState.own
  /// Whether the name of the file is synced. Never becomes `false` again.
  var isNameSynced = false
  var syncing = UploadSyncing.idle
  /// How often bytes were taken back that had counted before. A sync that began before such a moment says nothing about bytes
  /// that were written after it.
  var cutCount: UInt64 = 0

  // Only in memory.
  var observers: [UInt64: LoopWeak<UploadObservation>] = [:]
  var observerCount: UInt64 = 0
  var answer: UploadAnswer?
  var lastRefusal: UploadLastRefusal?

  init(_ row: UploadRow, _ charge: DiskCharge) {
    (self.row, self.charge) = (row, charge)
    (written, end, durable, syncedEnd) = (row.offset, row.offset, row.offset, row.offset)
    place = row.phase == .open ? .open : .none
  }

  /// Notes a change of the row that must survive a crash.
  mutating func touch() { revision += 1 }

  mutating func takePromise() -> UInt64 {
    defer { promise = 0 }
    return promise
  }

  /// Whether the upload needs no regular work (``SpoolCore/stir(_:)``).
  var isCalm: Bool {
    durable >= written && durableRevision >= revision && promise == 0 && hold.isCalm && !syncing.isRunning
  }

  var isFreed: Bool { file == .freed }

  /// Whether no other object retains the descriptor.
  var isFileIdle: Bool {
    mutating get { descriptor == nil || isKnownUniquelyReferenced(&descriptor) }
  }

  /// Returns how many bytes are not on disk yet. Without durability this leaves out bytes that are being verified: no sync is
  /// made for them, so a wait for it would never end.
  func unsynced(isDurable: Bool) -> UInt64 {
    guard hold.isVerifying else { return written - min(written, durable) }
    return isDurable ? end - min(end, max(syncedEnd, durable)) : 0
  }

  /// Whether the upload accepts bytes.
  var takesBytes: Bool { row.phase == .open && transition == nil }

  /// Takes the right to write from its holder. Bytes that were being verified do not count.
  mutating func endHolder() -> Displacement { ended(hold.displaced()) }

  /// Does what ``endHolder()`` does, for a holder that has lost the right already.
  mutating func ended(_ ended: WritingRight<PendingHold>.Ended) -> Displacement {
    if ended.leavesEnd { dropUnreachedEnd() }
    if ended.leavesUnverified { goBack = min(goBack ?? .max, written) }
    return Displacement(holder: ended.holder, promise: takePromise())
  }

  /// Takes back the bytes after `offset`, and the end that their request has announced (``UploadRow/finalAt``).
  mutating func goBack(to offset: UInt64) {
    row.finalAt = nil
    touch()
    guard offset < max(written, end) else { return }
    cutCount += 1
    hold.verifyingEnded()
    row.verifying = offset
    written = min(written, offset)
    durable = min(durable, offset)
    takenOffset = min(takenOffset, offset)
    row.offset = min(row.offset, offset)
    syncedEnd = min(syncedEnd, offset)
    goBack = min(goBack ?? .max, offset)
    syncing.goBack(to: offset)
  }

  /// Forgets the end that a request announced but did not reach; another request has to complete the upload.
  private mutating func dropUnreachedEnd() {
    guard let total = row.finalAt, written != total else { return }
    row.finalAt = nil
    touch()
  }

  /// Ends the write under way, whose bytes count. If another request took over during the write, it is known only now whether the
  /// first request has sent all its bytes.
  @discardableResult
  mutating func writeEnded() -> WritingRight<PendingHold>.WriteEnd {
    let end = hold.writeEnded()
    if end == .overtaken { dropUnreachedEnd() }
    return end
  }

  /// The holder that has lost the right and has to be told, and the promised bytes to give back to the budget.
  struct Displacement {
    let holder: LoopWeak<UploadWriter>?
    let promise: UInt64
  }
}

/// A takeover that waits until no write is under way.
struct PendingHold: UploadClaim, Sendable {
  let writer: LoopWeak<UploadWriter>
  let isReadOnly: Bool
  /// Called with `false` if another takeover came first.
  let reply: LoopReply<Bool>
}

/// A change of phase that is being recorded in the catalogue.
struct UploadTransition: Sendable {
  let event: UploadEvent
  /// The only phase in which the transition applies; `nil`: each phase that the event allows.
  let phase: UploadPhase?
  let answer: UploadAnswer?
  /// The origin's response if it did not take the upload.
  let refusal: UploadLastRefusal?
  /// The reason for the log.
  let why: String?
  /// Changes the row together with the phase.
  var apply: @Sendable (inout UploadRow) -> Void
  /// Whether the transition is being recorded. If so, the row that is taken for the commit has the new phase.
  var isRecording = false
  let then: @Sendable (Bool) -> Void

  init(
    _ event: UploadEvent, while phase: UploadPhase? = nil, answer: UploadAnswer? = nil,
    refusal: UploadLastRefusal? = nil, why: String? = nil,
    apply: @escaping @Sendable (inout UploadRow) -> Void = { _ in }, then: @escaping @Sendable (Bool) -> Void
  ) {
    (self.event, self.phase, self.answer, self.refusal, self.why) = (event, phase, answer, refusal, why)
    (self.apply, self.then) = (apply, then)
  }

  /// Whether, before the transition, all bytes must be synced, and their number must equal the declared length.
  var needsAllBytes: Bool { event == .completed }

  /// Returns the step by the table of ``UploadPhase/step(on:)``.
  func step(from phase: UploadPhase) -> UploadStep {
    if let only = self.phase, only != phase { return .refused }
    return phase.step(on: event)
  }
}
