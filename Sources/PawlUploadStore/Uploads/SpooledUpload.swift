import PawlBase
package import PawlDisk
package import PawlHTTP
package import PawlLoop
package import PawlUpload

/// One upload in the spool. May be used on any thread; completions run on the given loop, never within the call.
package final class SpooledUpload: Sendable {
  package let id: UploadID
  private let from: Locked<UploadOrigin>
  /// The client whose limits the upload counts against. This copy from ``origin`` can be read without a lock.
  package let client: [UInt8]
  let concatenation: UploadOrigin.Concatenation
  /// A copy of ``UploadOrigin/largest``.
  package let largest: UInt64
  /// When the upload was created; wall clock, seconds since 1970.
  package let createdAt: Int64
  /// When the upload was created, on the monotonic clock; `nil`: another process has created it.
  let bornAt: Monotonic?
  let core: SpoolCore
  let state: Locked<UploadState>

  init(
    _ id: UploadID, _ origin: UploadOrigin, createdAt: Int64, bornAt: Monotonic? = nil, charge: DiskCharge,
    core: SpoolCore, row: UploadRow
  ) {
    (self.id, from, self.createdAt, self.bornAt) = (id, Locked(origin), createdAt, bornAt)
    (client, concatenation, largest) = (origin.client, origin.concatenation, origin.largest)
    (self.core, state) = (core, Locked(UploadState(row, charge)))
  }

  /// The facts of the upload that never change. After the upload is answered they are without the fields of the creation request,
  /// which are not needed any more.
  package var origin: UploadOrigin { from.withLock { $0 } }

  /// Frees the memory that was only needed for the delivery.
  func slim() {
    from.withLock { $0 = $0.slimmed() }
  }

  var charge: DiskCharge { state.withLock { $0.charge } }

  package var status: UploadFacts {
    state.withLock { state in
      var status = UploadFacts(offset: state.durable, length: state.row.length, phase: state.row.phase)
      status.isAnswerDelivered = state.row.isAnswerDelivered
      status.originStatus = state.row.originStatus.map { Int($0) }
      status.expires = expires(state.row)
      (status.metadata, status.concat) = from.withLock { ($0.metadata, $0.concat) }
      status.isConcatFinal = concatenation == .final
      status.isConcatPartial = concatenation == .partial
      return status
    }
  }

  /// Calls `change` on `loop` after changes of the phase, the durable offset or the last refusal, until the returned observation is
  /// released on that loop. One call may be for several changes, so `change` has to read ``status``. Call this on the loop.
  package func observe(on loop: EventLoop, _ change: @escaping () -> Void) -> UploadObservation {
    loop.preconditionOnLoop()
    let observation = UploadObservation(of: self, change)
    observation.number = state.withLock { state in
      state.observerCount += 1
      state.observers[state.observerCount] = LoopWeak(observation, on: loop)
      return state.observerCount
    }
    return observation
  }

  /// Has the observers look at ``status`` again.
  package func notify() {
    let observers = state.withLock { Array($0.observers.values) }
    for observer in observers { observer.run { $0.changed() } }
  }

  /// Opens the file of the upload for sending.
  package func openBody(on loop: EventLoop, then: @escaping (Result<UploadBody, StoreError>) -> Void) {
    let reply = LoopReply(on: loop, then)
    // Usually the file was written a moment ago, and is still open.
    if let body = openedBody { return reply.send(.success(body)) }
    let isQueued = core.pool.run { [self] in reply.send(openBody()) }
    if !isQueued { reply.send(.failure(.dropped)) }
  }

  private var openedBody: UploadBody? {
    // If there is no catalogue, the spool is closed because the process ends, and no new work is begun.
    guard core.catalogue != nil else { return nil }
    return state.withLock { state in
      guard !state.isFreed, let descriptor = state.descriptor else { return nil }
      return UploadBody(fd: descriptor.raw, count: state.row.length ?? state.written, keeper: descriptor)
    }
  }

  private func openBody() -> Result<UploadBody, StoreError> {
    let count = state.withLock { $0.isFreed ? nil : $0.row.length ?? $0.written }
    guard let count else { return .failure(.dropped) }
    do throws(StoreError) {
      let descriptor = try openFile()
      return .success(UploadBody(fd: descriptor.raw, count: count, keeper: descriptor))
    } catch {
      core.events.log(.error, "upload-open-failed", ["upload": id.hex, "why": "\(error)"])
      return .failure(error)
    }
  }

  // MARK: Small facts

  /// Declares the length of the upload. The same length may be declared again. `false`: the length contradicts what is known of the
  /// upload.
  package func declare(length: UInt64) -> Bool {
    state.withLock { state in
      if let known = state.row.length { return known == length }
      guard state.takesBytes, length >= state.end else { return false }
      state.row.length = length
      state.touch()
      return true
    }
  }

  /// Whether a request has the right to add bytes, or waits for that right.
  package var isBeingWritten: Bool {
    state.withLock { $0.hold.isWanted }
  }

  /// The length at which the upload is complete, if all bytes of the latest creation or append request come; `nil`: that request
  /// does not complete the upload, or ended before that length.
  package var expectedEnd: UInt64? { state.withLock { $0.row.finalAt } }

  /// Records `Authorization` and `Cookie` of the latest request of the same user.
  package func refreshCredentials(_ fields: Fields) {
    let bytes = FieldsCoding.serialize(fields)
    let known = state.withLock { $0.row.credentials?.count ?? 0 }
    // New credentials are usually as long as the earlier ones. Longer ones are accepted up to this limit, above it only if there
    // is space.
    if bytes.count > max(known, Self.ordinaryCredentials), core.settings.countsRecords {
      guard core.budget.hasRoom(client, UInt64(bytes.count - known)) else { return }
    }
    change { row in
      guard row.phase != .answered, row.credentials != bytes else { return false }
      row.credentials = bytes
      return true
    }
    recount()
  }

  /// The length up to which credentials are always accepted, in bytes.
  private static let ordinaryCredentials = 4096

  /// The latest credentials; `nil`: none came since the creation, or the upload is answered.
  package var credentials: Fields? {
    state.withLock { $0.row.phase == .answered ? nil : $0.row.credentials }.flatMap(FieldsCoding.fields)
  }

  /// The tokens of the credentials with which a request may get the answer; they were recorded together with the answer. Empty:
  /// all credentials of the same user.
  package var askers: [[UInt8]] {
    let kept = state.withLock { $0.row.phase == .answered ? $0.row.credentials : nil }
    return kept.flatMap(FieldsCoding.fields)?.all(named: Self.askerField).map(Array.init) ?? []
  }

  private static let askerField = Array("answered-to".utf8)

  static func serialize(askers: [[UInt8]]) -> [UInt8]? {
    var fields = Fields()
    for asker in askers { fields.append(named: askerField, asker) }
    return askers.isEmpty ? nil : FieldsCoding.serialize(fields)
  }

  package func noteAnswerDelivered() {
    change { row in
      guard row.phase == .answered, !row.isAnswerDelivered else { return false }
      row.isAnswerDelivered = true
      return true
    }
    core.lender?.noteDelivered(id)
    notify()
  }

  /// The origin's response to the last delivery attempt, if that response did not consume the upload. Setting it notifies the
  /// observers.
  package var lastRefusal: UploadLastRefusal? {
    get { state.withLock { $0.lastRefusal } }
    set {
      state.withLock { $0.lastRefusal = newValue }
      notify()
    }
  }

  /// When a completed upload that cannot be delivered is removed; wall clock, seconds since 1970.
  package var giveUpAt: Int64? {
    get { state.withLock { $0.row.giveUpAt } }
    set {
      drop(at: newValue)
    }
  }

  private func drop(at time: Int64?) {
    let due = time.map { core.dueTime($0) }
    state.withLock { state in state.notBefore = due ?? state.notBefore }
    change { row in
      guard row.giveUpAt != time else { return false }
      row.giveUpAt = time
      return true
    }
  }

  /// Notes that the concatenation that was made from this part was answered, so that the part is removed soon.
  func wasUsed() {
    guard concatenation == .partial, giveUpAt == nil else { return }
    drop(at: core.clock.wallSeconds() + SpoolCore.usedPartAge)
  }

  /// Sets the kind of upload (``UploadBudget/Place``) by which this upload counts against the limits of its client.
  func count(as place: UploadBudget.Place) {
    let before = state.withLock { state in
      defer { state.place = place }
      return state.place
    }
    core.budget.move(client, from: before, to: place)
  }

  package var attempts: Int { state.withLock { Int($0.row.attempts) } }
  package var lastError: String? { state.withLock { $0.row.lastError } }
  /// When the next delivery attempt is made; wall clock, seconds since 1970.
  package var nextAttempt: Int64? { state.withLock { $0.row.nextAttempt } }

  /// Changes the row. The change is recorded soon or, while the upload is being created, together with the first row.
  func change(_ body: (inout UploadRow) -> Bool) {
    let isChanged = state.withLock { state in
      guard state.row.phase != .removed, body(&state.row) else { return false }
      state.touch()
      return state.making == .made
    }
    if isChanged { core.noteDirty(self) }
  }

  /// Returns when the upload expires, in seconds since 1970 (wall clock); `nil`: it is kept until the operator or the origin
  /// decides.
  func expires(_ row: UploadRow) -> Int64? {
    switch row.phase {
    case .open, .invalid: return expiry(row)
    case .complete: return concatenation == .partial ? expiry(row) : row.giveUpAt
    case .answered: return row.answerUntil
    case .forwarding, .sent, .unknown, .removed: return nil
    }
  }

  private func expiry(_ row: UploadRow) -> Int64 {
    let idle = max(row.lastByteAt, row.changedAt) + core.settings.expireAfter.components.seconds
    return min(idle, createdAt + core.settings.maxAge.components.seconds, row.giveUpAt ?? .max)
  }
}

/// An observation of an upload, which ends when it is released. Used on one loop.
package final class UploadObservation {
  private weak var upload: SpooledUpload?
  private var change: (() -> Void)?
  fileprivate(set) var number: UInt64 = 0

  fileprivate init(of upload: SpooledUpload, _ change: @escaping () -> Void) {
    (self.upload, self.change) = (upload, change)
  }

  deinit { cancel() }

  fileprivate func changed() { change?() }

  /// Ends the observation: `change` is not called any more.
  package func cancel() {
    change = nil
    _ = upload?.state.withLock { [number] in $0.observers.removeValue(forKey: number) }
  }
}

/// The bytes of a completed upload. The file stays open while ``keeper`` is retained.
package struct UploadBody: Sendable {
  package let fd: CInt
  /// The number of bytes.
  package let count: UInt64
  /// The object that keeps the file open.
  package let keeper: any AnyObject & Sendable

  package init(fd: CInt, count: UInt64, keeper: any AnyObject & Sendable) {
    (self.fd, self.count, self.keeper) = (fd, count, keeper)
  }
}
