import CLinux
import PawlDisk
import PawlLoop
import PawlUpload

/// Starts the regular work of a spool once a second, on the catalogue's thread.
final class UploadTicker: @unchecked Sendable {
  // Safe: touched on the catalogue's thread only.
  private let core: SpoolCore
  private var count = 0

  init(_ core: SpoolCore) { self.core = core }

  func tick() {
    count += 1
    let isSweeping = count % 10 == 0
    core.pool.run { [core] in
      core.lookAfterRestless()
      core.noteFreeSpace()
      core.carryOutOrders()
      if isSweeping {
        core.sweep()
        core.noteAlive()
      }
    }
  }
}

/// The regular work of a spool. All of it runs in the pool.
extension SpoolCore {
  /// How long an upload may get no new bytes before its promised (reserved) space is taken back.
  static let promiseLapse = Duration.seconds(60)
  /// The time without a write after which an idle file is closed.
  private static let keepOpen = Duration.seconds(2)
  /// If more uploads than this have to be synced, the complete file system is synced first.
  private static let crowd = 32
  /// How long removed uploads are remembered, in seconds.
  static let tombstoneAge: Int64 = 86_400
  /// How long a part is kept after the concatenation made from it was answered, in seconds.
  static let usedPartAge: Int64 = 300
  /// The time after pawl's start in which no upload of an earlier run counts as abandoned, because its client could not continue
  /// it while pawl did not run.
  static let startGrace = Duration.seconds(3600)

  /// Syncs what was written, takes back unused promises, and closes idle files.
  func lookAfterRestless() {
    let (restless, calmed) = takeRestless(since: clock.now().advanced(by: .zero - Self.keepOpen))
    for upload in calmed { upload.closeIfIdle() }
    let lapsed = clock.now().advanced(by: .zero - Self.promiseLapse)
    var behind: [SpooledUpload] = []
    for upload in restless {
      let (promise, isBehind) = upload.state.withLock { state in
        let isLapsed = state.lastWrite <= lapsed
        let isBehind = state.durable < state.written || state.durableRevision < state.revision
        return (isLapsed ? state.takePromise() : 0, isBehind && !state.syncing.isRunning)
      }
      budget.giveBack(upload.client, promise)
      if isBehind { behind.append(upload) }
    }
    if behind.count > Self.crowd && isDurable { syncFileSystem() }
    for upload in behind { upload.syncByItself() }
  }

  /// Syncs the complete file system, so that many files cost one journal commit. Each file is synced after that, which shows
  /// whether its bytes are on disk.
  private func syncFileSystem() {
    do throws(StoreError) {
      try Files.syncFileSystem(of: bodies)
    } catch {
      events.log(.warning, "spool-sync-failed", ["why": "\(error)"])
    }
  }

  func noteFreeSpace() {
    do throws(StoreError) {
      budget.disk.noteFree(try Files.space(of: place.path).free)
    } catch {
      events.log(.warning, "spool-space-unknown", ["why": "\(error)"])
    }
  }

  /// Removes the uploads that have expired.
  func sweep() {
    let now = clock.wallSeconds()
    var answered: [(upload: SpooledUpload, row: UploadRow)] = []
    for upload in uploads {
      let (row, isExpired) = upload.state.withLock { state in
        // A later request for the answer reads it from the catalogue.
        let isOver = state.row.phase == .answered
        if isOver, state.row.isAnswerDelivered || state.row.changedAt < now - 60 {
          (state.answer, state.lastRefusal) = (nil, nil)
        }
        return (state.row, upload.isExpired(state, wall: now))
      }
      if isExpired {
        collect(upload, row.phase)
      } else if row.phase == .answered || row.phase == .invalid {
        answered.append((upload, row))
      }
    }
    trim(&answered)
    let forgotten = takeTombstones(before: now - Self.tombstoneAge, limit: settings.maxTombstones)
    if !forgotten.isEmpty { submit(forgotten.map { .forget($0) }) }
  }

  private func collect(_ upload: SpooledUpload, _ phase: UploadPhase) {
    // If the phase has changed meanwhile, another expiry time applies, and nothing is removed.
    upload.remove(.expired, while: phase, why: Self.reason(phase))
  }

  /// Returns the upload unless it has expired; an expired upload is removed at once, without waiting for the next sweep. A
  /// completed upload that is not delivered yet is removed by a sweep only.
  func findLiving(_ id: UploadID) -> SpooledUpload? {
    guard let upload = find(id) else { return nil }
    let now = clock.wallSeconds()
    let expired = upload.state.withLock { state -> UploadPhase? in
      let isOnlyCopy = state.row.phase == .complete && upload.concatenation != .partial
      return !isOnlyCopy && upload.isExpired(state, wall: now) ? state.row.phase : nil
    }
    guard let expired else { return upload }
    collect(upload, expired)
    return nil
  }

  /// Whether there is such an upload, but it has expired.
  func isOver(_ id: UploadID) -> Bool { find(id) != nil && findLiving(id) == nil }

  /// Removes the oldest answered and invalid uploads if there are more than allowed.
  private func trim(_ answered: inout [(upload: SpooledUpload, row: UploadRow)]) {
    answered.sort { left, right in
      let (isLeftHeard, isRightHeard) = (left.row.isHeard, right.row.isHeard)
      return isLeftHeard != isRightHeard ? isLeftHeard : left.row.changedAt < right.row.changedAt
    }
    let excess = max(0, answered.count - settings.maxAnswered)
    for entry in answered.prefix(excess) {
      entry.upload.remove(.crowdedOut, why: "there are more answered uploads than are kept")
    }
    trimRecords(answered.dropFirst(excess).map(\.upload))
  }

  /// Returns the monotonic time at which a wall clock time will come, if the wall clock is not set meanwhile.
  func dueTime(_ wall: Int64) -> Monotonic { clock.now().advanced(by: .seconds(max(0, wall - clock.wallSeconds()))) }

  /// Returns how long ago an event was. For an event in this process this is a difference of monotonic times. For an earlier
  /// event the wall clock is used only for the time between the event and pawl's start.
  fileprivate func age(since wall: Int64, _ moment: Monotonic?) -> Duration {
    if let moment { return clock.now() - moment }
    return .seconds(max(0, startedWall - wall)) + (clock.now() - startedAt)
  }

  private static func reason(_ phase: UploadPhase) -> String {
    switch phase {
    case .open: "incomplete"
    case .complete, .forwarding, .sent, .unknown: "could not be delivered"
    case .answered: "answered"
    case .invalid, .removed: "refused"
    }
  }

  // MARK: Orders

  func carryOutOrders() {
    do throws(StoreError) {
      let orders = try reader.withLock { (database) throws(StoreError) in try UploadCatalogue.openOrders(database) }
      for order in orders where carried.withLock({ $0.insert(order.number).inserted }) { carryOut(order) }
    } catch {
      events.log(.warning, "upload-orders-unread", ["why": "\(error)"])
    }
  }

  private func carryOut(_ order: UploadOrder) {
    guard let upload = find(order.id) else { return report(order, UploadOrders.missing) }
    let done: @Sendable (Bool) -> Void = { [self] isDone in
      report(order, isDone ? UploadOrders.done : "\(upload.status.phase)")
      if isDone { onOrder.withLock { $0 }?(order, upload) }
    }
    switch order.kind {
    case .remove: upload.begin(UploadTransition(.removed, then: done))
    case .resend:
      // An upload that waits for its next attempt is delivered at once.
      if upload.status.phase == .complete { return done(true) }
      upload.begin(UploadTransition(.resendOrdered, apply: { $0.forgetOutcome() }, then: done))
    }
  }

  private func report(_ order: UploadOrder, _ result: String) {
    events.log(.notice, "upload-order", ["upload": order.id.hex, "order": order.kind.rawValue, "result": result])
    submit([.orderResult(order.number, result)]) { [self] isRecorded in
      // If the result could not be recorded, the change is kept and recorded later.
      if isRecorded { _ = carried.withLock { $0.remove(order.number) } }
    }
  }
}

extension UploadRow {
  /// Whether no client waits for the answer of the upload, because it was delivered, or the upload is invalid.
  fileprivate var isHeard: Bool { isAnswerDelivered || phase == .invalid }
}

extension SpooledUpload {
  /// Whether the upload has expired. If the wall clock is set forward, uploads that are being written, or were written or answered
  /// a moment ago, do not expire.
  func isExpired(_ state: UploadState, wall: Int64) -> Bool {
    switch state.row.phase {
    case .open, .invalid: return isAbandoned(state) || isDue(state.row.giveUpAt, state, wall)
    case .complete:
      return isDue(state.row.giveUpAt, state, wall) || concatenation == .partial && isAbandoned(state)
    case .answered: return isDue(state.row.answerUntil, state, wall)
    case .forwarding, .sent, .unknown, .removed: return false
    }
  }

  private func isDue(_ time: Int64?, _ state: UploadState, _ wall: Int64) -> Bool {
    guard let time else { return false }
    return time <= wall && state.notBefore <= core.clock.now()
  }

  private func isAbandoned(_ state: UploadState) -> Bool {
    let settings = core.settings
    let grace = min(settings.expireAfter, SpoolCore.startGrace)
    if bornAt == nil && core.age(since: core.startedWall, nil) < grace { return false }
    if core.age(since: createdAt, bornAt) >= settings.maxAge { return true }
    if state.hold.isWritten { return false }
    let never = Monotonic(nanoseconds: 0)
    let seen = max(state.lastByte, state.lastChange, bornAt ?? never)
    let last = max(state.row.lastByteAt, state.row.changedAt)
    return core.age(since: last, seen > never ? seen : nil) >= settings.expireAfter
  }
}
