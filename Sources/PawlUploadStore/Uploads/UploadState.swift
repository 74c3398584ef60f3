import PawlDisk
import PawlLoop
import PawlUpload

/// What changes of an upload in memory. Its lock is held for look-ups and updates only, never over IO.
struct UploadState {
  /// What is recorded next; its `offset` is what is synced.
  var row: UploadRow
  /// Contiguous bytes in the file that count.
  var written: UInt64
  /// Where the next byte goes: beyond `written` while content is verified.
  var end: UInt64
  /// Synced, recorded durably, and so told.
  var durable: UInt64
  /// Bytes of the file that a sync has covered, those that are being verified, too. Says how much the disk has still to
  /// write; nothing is told or recorded by it.
  var syncedEnd: UInt64

  // What is recorded.
  var making = UploadMaking.new
  /// Counts changes of the row; what was taken for the commit under way; what is durable.
  var revision: UInt64 = 1
  var takenRevision: UInt64 = 0
  var durableRevision: UInt64 = 0
  var takenOffset: UInt64 = 0
  var transition: UploadTransition?
  /// Transitions that wait for the one under way.
  var queue: [UploadTransition] = []

  // Who writes.
  var hold = WritingRight<PendingHold>()
  /// The file has to be cut here before anybody writes.
  var goBack: UInt64?
  /// Room promised to the holder, bytes.
  var promise: UInt64 = 0
  /// When somebody got the right to write, or wrote.
  var lastWrite = Monotonic(nanoseconds: 0)
  /// When bytes came last.
  var lastByte = Monotonic(nanoseconds: 0)
  /// When the phase changed last; zero when that was in another process.
  var lastChange = Monotonic(nanoseconds: 0)
  /// What the wall clock says has to go does not go before this: it may have been set forward.
  var notBefore = Monotonic(nanoseconds: 0)
  /// What it counts as for its client's limits.
  var place: UploadBudget.Place

  /// What is kept of it besides its bytes, as it is counted.
  var kept: UInt64 = 0
  /// Of its answer, while it is kept.
  var answerSize: UInt64 = 0

  // The file.
  var charge: DiskCharge
  /// Kept as long as anybody else holds it: nobody opens the file a second time meanwhile.
  var descriptor: UploadDescriptor?
  var file = UploadFileState.own
  /// Once it is, it stays so.
  var isNameSynced = false
  var syncing = UploadSyncing.idle
  /// Counts how often bytes that counted were taken back: what a sync covered before says nothing of those after.
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

  /// The row changed in a way that a crash must not forget.
  mutating func touch() { revision += 1 }

  mutating func takePromise() -> UInt64 {
    defer { promise = 0 }
    return promise
  }

  /// Nothing has to be looked after.
  var isCalm: Bool {
    durable >= written && durableRevision >= revision && promise == 0 && hold.isCalm && !syncing.isRunning
  }

  var isFreed: Bool { file == .freed }

  /// Whether nobody has the file in hand.
  var isFileIdle: Bool {
    mutating get { descriptor == nil || isKnownUniquelyReferenced(&descriptor) }
  }

  /// Bytes that the disk has not got yet. Where uploads are not synced, those that are verified are none of them:
  /// nothing would ever end the wait.
  func unsynced(isDurable: Bool) -> UInt64 {
    guard hold.isVerifying else { return written - min(written, durable) }
    return isDurable ? end - min(end, max(syncedEnd, durable)) : 0
  }

  /// Whether bytes may come, from somebody.
  var takesBytes: Bool { row.phase == .open && transition == nil }

  /// Takes the right to write from whoever has it. What was being verified does not count.
  mutating func endHolder() -> Displacement { ended(hold.displaced()) }

  /// The same, of one who has lost it.
  mutating func ended(_ ended: WritingRight<PendingHold>.Ended) -> Displacement {
    if ended.leavesEnd { dropUnreachedEnd() }
    if ended.leavesUnverified { goBack = min(goBack ?? .max, written) }
    return Displacement(holder: ended.holder, promise: takePromise())
  }

  /// Bytes behind `offset` count no more, nor does it where the request that brought them said that all ends.
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

  /// What a request was to complete and has not, another one has to.
  private mutating func dropUnreachedEnd() {
    guard let total = row.finalAt, written != total else { return }
    row.finalAt = nil
    touch()
  }

  /// The write that was under way counts, with its bytes. Whether a request that was overtaken meanwhile had brought all
  /// is known now.
  @discardableResult
  mutating func writeEnded() -> WritingRight<PendingHold>.WriteEnd {
    let end = hold.writeEnded()
    if end == .overtaken { dropUnreachedEnd() }
    return end
  }

  /// Who has to be told, and what goes back to the budget.
  struct Displacement {
    let holder: LoopWeak<UploadWriter>?
    let promise: UInt64
  }
}

/// Somebody who took the upload over and waits until nobody writes.
struct PendingHold: UploadClaim, Sendable {
  let writer: LoopWeak<UploadWriter>
  let isReadOnly: Bool
  /// `false`: another was faster.
  let reply: LoopReply<Bool>
}

/// A change of phase on its way to the catalogue.
struct UploadTransition: Sendable {
  let event: UploadEvent
  /// It counts in this phase only.
  let phase: UploadPhase?
  let answer: UploadAnswer?
  /// What the origin said where it did not take the upload.
  let refusal: UploadLastRefusal?
  /// What is logged with it.
  let why: String?
  /// What of the row changes with the phase.
  var apply: @Sendable (inout UploadRow) -> Void
  /// It is being recorded: the row that is taken has the new phase.
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

  /// All bytes are synced before, and there have to be as many as the length says.
  var needsAllBytes: Bool { event == .completed }

  /// What it comes to: as the table says.
  func step(from phase: UploadPhase) -> UploadStep {
    if let only = self.phase, only != phase { return .refused }
    return phase.step(on: event)
  }
}
