import CLinux
import PawlDisk
import PawlLoop
import PawlUpload

/// What happens once a second, begun on the catalogue's thread.
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

/// All of it in the pool.
extension SpoolCore {
  /// A promise without bytes ends after this.
  static let promiseLapse = Duration.seconds(60)
  /// A file that nobody writes is closed after this.
  private static let keepOpen = Duration.seconds(2)
  /// More uploads than this are brought to the disk together first.
  private static let crowd = 32
  /// Removed uploads are remembered so long, seconds.
  static let tombstoneAge: Int64 = 86_400
  /// A part goes so long after what it was made part of was answered, seconds.
  static let usedPartAge: Int64 = 300
  /// Who could not come while pawl was not there has this long after its start.
  static let startGrace = Duration.seconds(3600)

  /// Syncs what was written, ends promises that nobody uses, closes files that nobody writes.
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
    if behind.count > Self.crowd && settings.isDurable { syncFileSystem() }
    for upload in behind { upload.syncByItself() }
  }

  /// Many files at once cost one journal commit. Whether it worked, each file's own sync finds out.
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

  /// Collects what has expired.
  func sweep() {
    let now = clock.wallSeconds()
    var answered: [(upload: SpooledUpload, row: UploadRow)] = []
    for upload in uploads {
      let (row, isExpired) = upload.state.withLock { state in
        // Who asks again gets it from the catalogue.
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
    // What has another phase by now has another time.
    upload.remove(.expired, while: phase, why: Self.reason(phase))
  }

  /// The upload, unless its time is over: then it is collected now, whenever the next sweep comes. A completed one that was
  /// not delivered is a sweep's alone.
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

  /// Whether it is there, and its time is over.
  func isOver(_ id: UploadID) -> Bool { find(id) != nil && findLiving(id) == nil }

  /// Keeps as many uploads that are over as are allowed.
  private func trim(_ answered: inout [(upload: SpooledUpload, row: UploadRow)]) {
    answered.sort { left, right in
      let (isLeftHeard, isRightHeard) = (left.row.isHeard, right.row.isHeard)
      return isLeftHeard != isRightHeard ? isLeftHeard : left.row.changedAt < right.row.changedAt
    }
    let excess = max(0, answered.count - settings.maxAnswered)
    for entry in answered.prefix(excess) {
      entry.upload.remove(.crowdedOut, why: "more were answered than are remembered")
    }
    trimRecords(answered.dropFirst(excess).map(\.upload))
  }

  /// When that moment of the wall clock comes if nobody sets it.
  func dueTime(_ wall: Int64) -> Monotonic { clock.now().advanced(by: .seconds(max(0, wall - clock.wallSeconds()))) }

  /// How long ago that was. What happened in this process is told by the clock that nobody sets; the wall clock says
  /// only how long it was before the start.
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
      // One that waits for its next attempt need not wait.
      if upload.status.phase == .complete { return done(true) }
      upload.begin(UploadTransition(.resendOrdered, apply: { $0.forgetOutcome() }, then: done))
    }
  }

  private func report(_ order: UploadOrder, _ result: String) {
    events.log(.notice, "upload-order", ["upload": order.id.hex, "order": order.kind.rawValue, "result": result])
    submit([.orderResult(order.number, result)]) { [self] isRecorded in
      // Its change is kept and recorded later where it could not be now.
      if isRecorded { _ = carried.withLock { $0.remove(order.number) } }
    }
  }
}

extension UploadRow {
  /// Nobody waits for an answer that is stored.
  fileprivate var isHeard: Bool { isAnswerDelivered || phase == .invalid }
}

extension SpooledUpload {
  /// Whether it is to be collected. A wall clock that is set forward collects nothing: not what somebody writes, nor what
  /// came or was answered a moment ago.
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
