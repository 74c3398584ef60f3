import PawlBase
package import PawlDisk
package import PawlHTTP
package import PawlLoop
package import PawlUpload

/// One upload in the spool. Any thread; completions run on the loop that was given, never within the call.
package final class SpooledUpload: Sendable {
  package let id: UploadID
  private let from: Locked<UploadOrigin>
  /// Who counts for it: of ``origin``, what never goes, at hand without a lock.
  package let client: [UInt8]
  let concatenation: UploadOrigin.Concatenation
  /// ``UploadOrigin/largest``.
  package let largest: UInt64
  /// Wall clock, seconds since 1970.
  package let createdAt: Int64
  /// When it was made, if this process did.
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

  /// Where it comes from and where it goes. Of one that was answered without the fields of its request: nothing is
  /// asked with them any more.
  package var origin: UploadOrigin { from.withLock { $0 } }

  /// Nothing has to be sent any more: the memory is for others.
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

  /// `change` runs on `loop` after each change of phase, durable offset or last refusal until the observation is let
  /// go of, on that loop. Changes are joined: look at ``status``. On the loop.
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

  func notify() {
    let observers = state.withLock { Array($0.observers.values) }
    for observer in observers { observer.run { $0.changed() } }
  }

  /// Opens the bytes for sending.
  package func openBody(on loop: EventLoop, then: @escaping (Result<UploadBody, StoreError>) -> Void) {
    let reply = LoopReply(on: loop, then)
    // As a rule it was written a moment ago, and is open still.
    if let body = openedBody { return reply.send(.success(body)) }
    let isQueued = core.pool.run { [self] in reply.send(openBody()) }
    if !isQueued { reply.send(.failure(.dropped)) }
  }

  private var openedBody: UploadBody? {
    // At the end of the process nothing is begun any more.
    guard core.catalogue != nil else { return nil }
    return state.withLock { state in
      guard !state.isFreed, let descriptor = state.descriptor else { return nil }
      return UploadBody(fd: descriptor.raw, count: state.row.length ?? state.written, owner: descriptor)
    }
  }

  private func openBody() -> Result<UploadBody, StoreError> {
    let count = state.withLock { $0.isFreed ? nil : $0.row.length ?? $0.written }
    guard let count else { return .failure(.dropped) }
    do throws(StoreError) {
      let descriptor = try openFile()
      return .success(UploadBody(fd: descriptor.raw, count: count, owner: descriptor))
    } catch {
      core.events.log(.error, "upload-open-failed", ["upload": id.hex, "why": "\(error)"])
      return .failure(error)
    }
  }

  // MARK: Small facts

  /// The whole length, once or the same again; `false`: it contradicts what is known.
  package func declare(length: UInt64) -> Bool {
    state.withLock { state in
      if let known = state.row.length { return known == length }
      guard state.takesBytes, length >= state.end else { return false }
      state.row.length = length
      state.touch()
      return true
    }
  }

  /// Whether somebody has the right to add to it, or is about to get it.
  package var isBeingWritten: Bool {
    state.withLock { $0.hold.isWanted }
  }

  /// Where the last request that added to it said that the upload ends; `nil`: it did not, or brought less.
  package var expectedEnd: UInt64? { state.withLock { $0.row.finalAt } }

  /// `Authorization` and `Cookie` of the latest request of the same owner.
  package func refreshCredentials(_ fields: Fields) {
    let bytes = FieldsCoding.serialize(fields)
    let known = state.withLock { $0.row.credentials?.count ?? 0 }
    // A fresh token is as long as the one before; what is much longer has to find room.
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

  /// So long they may always become, bytes.
  private static let ordinaryCredentials = 4096

  /// `nil` where none came since the creation, and once the upload is answered.
  package var credentials: Fields? {
    state.withLock { $0.row.phase == .answered ? nil : $0.row.credentials }.flatMap(FieldsCoding.fields)
  }

  /// What stands for the credentials that the answer was given to, as it was said with it. Empty: any of the owner's.
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
    notify()
  }

  /// The answer to the last attempt, where it did not consume the upload; telling it wakes the observers.
  package var lastRefusal: UploadLastRefusal? {
    get { state.withLock { $0.lastRefusal } }
    set {
      state.withLock { $0.lastRefusal = newValue }
      notify()
    }
  }

  /// When a completed upload that cannot be delivered is dropped; wall seconds.
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

  /// What was made of this part was answered: it goes soon, unless it goes earlier.
  func wasUsed() {
    guard concatenation == .partial, giveUpAt == nil else { return }
    drop(at: core.clock.wallSeconds() + SpoolCore.usedPartAge)
  }

  /// What it is from now on for the limits of its client.
  func count(as place: UploadBudget.Place) {
    let before = state.withLock { state in
      defer { state.place = place }
      return state.place
    }
    core.budget.move(client, from: before, to: place)
  }

  package var attempts: Int { state.withLock { Int($0.row.attempts) } }
  package var lastError: String? { state.withLock { $0.row.lastError } }
  /// Wall seconds.
  package var nextAttempt: Int64? { state.withLock { $0.row.nextAttempt } }

  /// Changes the row and has that recorded soon: not before what it says of its bytes is so, while it is being made.
  func change(_ body: (inout UploadRow) -> Bool) {
    let isChanged = state.withLock { state in
      guard state.row.phase != .removed, body(&state.row) else { return false }
      state.touch()
      return state.making == .made
    }
    if isChanged { core.noteDirty(self) }
  }

  /// Wall seconds; `nil` for what is kept until somebody decides.
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

/// Lets an observer look away when it is let go of. Of one loop.
package final class UploadObservation {
  private weak var upload: SpooledUpload?
  private var change: (() -> Void)?
  fileprivate(set) var number: UInt64 = 0

  fileprivate init(of upload: SpooledUpload, _ change: @escaping () -> Void) {
    (self.upload, self.change) = (upload, change)
  }

  deinit { cancel() }

  fileprivate func changed() { change?() }

  /// Nothing is told any more.
  package func cancel() {
    change = nil
    _ = upload?.state.withLock { [number] in $0.observers.removeValue(forKey: number) }
  }
}

/// The bytes of a completed upload; the file stays open while this lives.
package struct UploadBody: Sendable {
  package let fd: CInt
  /// Bytes.
  package let count: UInt64
  /// What keeps the file open.
  package let owner: any AnyObject & Sendable

  package init(fd: CInt, count: UInt64, owner: any AnyObject & Sendable) {
    (self.fd, self.count, self.owner) = (fd, count, owner)
  }
}
