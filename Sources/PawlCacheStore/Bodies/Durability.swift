import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// Syncs bodies from the page cache to the disk, and then records that durably in the catalogue. Bodies that were written are
/// synced once a second. A body with 8 MiB of unsynced bytes is synced at once.
final class Durability: Sendable {
  private let waiting = Locked([ObjectIdentifier: StoredBody]())

  /// If more bodies than this are to be synced, one `syncfs(2)` syncs them all.
  private static let crowd = 32

  /// Adds a published body that was written.
  func add(_ body: StoredBody) { waiting.withLock { $0[ObjectIdentifier(body)] = body } }

  /// Removes a body that was dropped, so that it is not synced.
  func remove(_ body: StoredBody) {
    let removed = waiting.withLock { $0.removeValue(forKey: ObjectIdentifier(body)) }
    withExtendedLifetime(removed) {}
  }

  /// Syncs all bodies that wait. Runs once a second on the catalogue's thread.
  func tick(_ core: BodyCore) {
    let bodies = takeAll()
    if !bodies.isEmpty { sync(bodies, core) }
  }

  private func takeAll() -> [StoredBody] {
    waiting.withLock { waiting in
      defer { waiting.removeAll() }
      return Array(waiting.values)
    }
  }

  /// Records what these bodies have written, syncs them in the pool, and then records durably that they are synced.
  func sync(_ bodies: [StoredBody], _ core: BodyCore) {
    let chosen = bodies.filter { $0.beginSync() }
    guard let last = chosen.last, let catalogue = core.catalogue else { return }
    for body in chosen.dropLast() { catalogue.noteDirty(body, soon: true) }
    catalogue.record(last) { [self] _ in
      if !core.pool.run({ self.perform(chosen, core) }) { perform(chosen, core) }
    }
  }

  /// Syncs all bodies that wait, on this thread, at the end of the process. The catalogue is closed afterwards.
  func syncAll(_ core: BodyCore) {
    let bodies = takeAll().filter { $0.beginSync() }
    guard !bodies.isEmpty, let catalogue = core.catalogue else { return }
    for body in bodies { catalogue.noteDirty(body, soon: true) }
    catalogue.barrier()
    perform(bodies, core)
  }

  /// Syncs these bodies and records that they are synced. Blocking. The catalogue gets the rows of the segments that a
  /// ``SyncPoint`` covers before it gets the change that is submitted here.
  private func perform(_ bodies: [StoredBody], _ core: BodyCore) {
    var points: [(body: StoredBody, point: SyncPoint)] = []
    for body in bodies {
      if let point = body.syncPoint() { points.append((body, point)) }
    }
    guard !points.isEmpty else { return }
    var failed: [(StoredBody, StoreError)] = []
    if points.count > Self.crowd {
      if let error = syncFileSystem(points[0].point, core) { failed = points.map { ($0.body, error) } }
    } else {
      for (body, point) in points {
        if let error = syncFile(body, point, core) { failed.append((body, error)) }
      }
    }
    for (body, error) in failed { body.syncFailed(error) }
    let synced = points.filter { entry in !failed.contains { $0.0 === entry.body } }
    guard !synced.isEmpty else { return }
    core.submit(synced.flatMap { $0.body.changes(after: $0.point) }, durably: true) { isRecorded in
      for (body, point) in synced { body.finishSync(point, isRecorded: isRecorded) }
    }
  }

  /// Syncs the file system through a file that is already open, so that no further descriptor is needed. This must work even if
  /// the process has no free descriptors: a file can be closed, to free a descriptor, only after it was synced.
  private func syncFileSystem(_ point: SyncPoint, _ core: BodyCore) -> StoreError? {
    syncfs(point.descriptor.raw) == 0 ? nil : Files.failure("syncfs", core.bodiesDirectory)
  }

  private func syncFile(_ body: StoredBody, _ point: SyncPoint, _ core: BodyCore) -> StoreError? {
    guard fdatasync(point.descriptor.raw) == 0 else { return Files.failure("fdatasync", core.path(of: body.id)) }
    guard !point.isNameSynced else { return nil }
    do throws(StoreError) {
      try Files.syncDirectory(core.folder(of: body.id))
      return nil
    } catch {
      guard case .system(_, _, EMFILE) = error else { return error }
      return syncFileSystem(point, core)
    }
  }
}

/// The part of a body that a sync makes durable, captured when the sync begins.
struct SyncPoint {
  let descriptor: BodyDescriptor
  let isNameSynced: Bool
  let sequence: UInt64
  let bytes: UInt64
  /// The length of the body if all of it is recorded, so that its row may be marked as complete; else `nil`.
  let completeTotal: UInt64?
}

extension StoredBody {
  func beginSync() -> Bool {
    state.withLock { $0.isPublished && $0.sync.began() }
  }

  /// Captures what a sync that begins now makes durable. All segment rows that were taken so far describe bytes that were written
  /// before this call.
  func syncPoint() -> SyncPoint? {
    let opened = state.withLock { $0.descriptor } ?? BodyFile.reopen(self)
    return state.withLock { state in
      guard let descriptor = opened, !state.isDoomed else {
        _ = state.sync.failed()
        return nil
      }
      let isWhole = state.content == .complete && !state.hasUnrecorded
      return SyncPoint(
        descriptor: descriptor, isNameSynced: state.sync.isNameSynced, sequence: state.sequence,
        bytes: state.unsyncedBytes,
        completeTotal: isWhole ? state.total : nil)
    }
  }

  func changes(after point: SyncPoint) -> [CatalogueChange] {
    state.withLock { state in
      guard !state.isDoomed else { return [] }
      var changes: [CatalogueChange] = [.synced(number, sequence: point.sequence)]
      // The body is not complete any more if a segment was found corrupt and removed since the sync began.
      if let total = point.completeTotal, state.isComplete { changes.append(.complete(number, total: total)) }
      return changes
    }
  }

  func finishSync(_ point: SyncPoint, isRecorded: Bool) {
    let isBehind = state.withLock { state in
      _ = state.sync.ended()
      guard isRecorded else { return true }
      state.syncedSequence = max(state.syncedSequence, point.sequence)
      state.unsyncedBytes -= min(point.bytes, state.unsyncedBytes)
      if point.completeTotal != nil { state.content.wasRecorded() }
      return !state.isDoomed && (state.unsyncedBytes > 0 || state.content == .complete)
    }
    if isBehind { core.durability.add(self) }
  }

  /// Notes that a sync has failed. The kernel may have dropped what it could not write, so bytes that were written since the last
  /// sync are compared with their digests before they are used.
  func syncFailed(_ error: StoreError) {
    core.events.log(.error, "body-sync-failed", ["body": id.hex, "why": "\(error)"])
    state.withLock { state in
      _ = state.sync.failed()
      state.demoteUnsynced(after: state.syncedSequence)
    }
  }
}
