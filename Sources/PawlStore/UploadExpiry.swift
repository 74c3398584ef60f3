import CLinux
import PawlLoop
import PawlUpload

/// What happens once a second, begun on the catalogue's thread.
final class UploadTicker: @unchecked Sendable {
  // Safe: touched on the catalogue's thread only.
  private let core: UploadCore
  private var count = 0

  init(_ core: UploadCore) { self.core = core }

  func tick() {
    count += 1
    let isSweeping = count % 10 == 0
    core.pool.run { [core] in
      core.lookAfterRestless()
      core.noteFreeSpace()
      core.carryOutOrders()
      if isSweeping { core.sweep() }
    }
  }
}

/// All of it in the pool.
extension UploadCore {
  /// A promise without bytes ends after this.
  static let promiseLapse = Duration.seconds(60)
  /// More uploads than this are brought to the disk together first.
  private static let crowd = 32
  /// Removed uploads are remembered so long, seconds.
  static let tombstoneAge: Int64 = 86_400
  /// Larger answers leave the memory after a minute, bytes.
  private static let smallAnswer = 4096

  /// Syncs what was written, ends promises that nobody uses, closes files that nobody writes.
  func lookAfterRestless() {
    let (restless, calmed) = takeRestless()
    for upload in calmed { upload.closeIfIdle() }
    let lapsed = clock.now().advanced(by: .zero - Self.promiseLapse)
    var behind: [SpooledUpload] = []
    for upload in restless {
      let (promise, isBehind) = upload.state.withLock { state in
        let isLapsed = state.lastWrite <= lapsed
        let isBehind = state.durable < state.written || state.durableRevision < state.revision
        return (isLapsed ? state.takePromise() : 0, isBehind && !state.isSyncing)
      }
      budget.giveBack(upload.origin.client, promise)
      if isBehind { behind.append(upload) }
    }
    if behind.count > Self.crowd && settings.isDurable { syncFileSystem() }
    for upload in behind { upload.syncByItself() }
  }

  /// Many files at once cost one journal commit. Whether it worked, each file's own sync finds out.
  private func syncFileSystem() {
    do throws(StoreError) {
      let directory = OwnedDescriptor(adopting: try Files.open(bodies, O_RDONLY | O_DIRECTORY))
      if syncfs(directory.raw) != 0 {
        events.log(.warning, "spool-sync-failed", ["why": "\(Files.failure("syncfs", bodies))"])
      }
    } catch {
      events.log(.warning, "spool-sync-failed", ["why": "\(error)"])
    }
  }

  func noteFreeSpace() {
    do throws(StoreError) {
      budget.disk.noteFree(try Files.space(of: settings.path).free)
    } catch {
      events.log(.warning, "spool-space-unknown", ["why": "\(error)"])
    }
  }

  /// Collects what has expired.
  func sweep() {
    let now = clock.wallSeconds()
    for upload in uploads {
      let (phase, expires) = upload.state.withLock { state in
        if let answer = state.answer, answer.body.count > Self.smallAnswer, state.row.changedAt < now - 60 {
          state.answer = nil
        }
        return (state.row.phase, upload.expires(state.row))
      }
      guard let expires, expires <= now else { continue }
      upload.remove(from: [phase], why: Self.reason(phase)) { _ in }
    }
    let forgotten = takeTombstones(before: now - Self.tombstoneAge)
    if !forgotten.isEmpty { submit(forgotten.map { .forget($0) }) }
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
    case .remove: upload.remove(then: done)
    case .resend:
      // One that waits for its next attempt need not wait.
      if upload.status.phase == .complete { return done(true) }
      upload.begin(UploadTransition(from: [.unknown], to: .complete, apply: { $0.nextAttempt = nil }, then: done))
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
