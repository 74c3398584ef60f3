import CLinux
import PawlBase
import PawlDisk
import PawlLoop

/// Limits the number of body files that are open without being used. Beyond the limit, the least recently used files are closed.
final class OpenBodies: Sendable {
  private struct Entry { weak var body: StoredBody? }
  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
  }
  private let limit: Int
  private let state = Locked(State())
  private let tick = AtomicWord(0)

  init(limit: Int) { self.limit = max(1, limit) }

  var count: Int { state.withLock { $0.entries.count } }

  /// Whether one more file can be opened without another being closed.
  var hasRoom: Bool { count < limit }

  /// Returns a new moment: a number higher than all that were returned before.
  func now() -> UInt64 { UInt64(tick.add(1)) }

  /// The moment that ``now()`` returned last. Several bodies may get the same moment from this property. It is for bodies in
  /// frequent use: the order in which these were used does not matter.
  var lately: UInt64 { UInt64(tick.load()) }

  /// Adds a body that has opened its file, and closes idle files if there are too many. Must not be called with a body's lock
  /// held.
  func add(_ body: StoredBody) {
    let crowd = state.withLock { state -> [StoredBody] in
      state.entries[ObjectIdentifier(body)] = Entry(body: body)
      guard state.entries.count > limit else { return [] }
      return state.entries.values.compactMap(\.body)
    }
    guard !crowd.isEmpty else { return }
    closeOldest(crowd.filter { $0 !== body })
  }

  func remove(_ identifier: ObjectIdentifier) { _ = state.withLock { $0.entries.removeValue(forKey: identifier) } }

  /// Closes idle files beyond the limit that could not be closed before, because they were not synced. Runs once a second.
  func trim() {
    let crowd = state.withLock { state in state.entries.count > limit ? state.entries.values.compactMap(\.body) : [] }
    if !crowd.isEmpty { closeOldest(crowd) }
  }

  /// Closes an eighth of the idle files, because the process is out of descriptors.
  func closeSome() {
    let crowd = state.withLock { $0.entries.values.compactMap(\.body) }
    closeOldest(crowd, count: max(1, crowd.count / 8))
  }

  /// Opens a file. If the process is out of descriptors, closes idle files and tries once more.
  func makingRoom<File>(_ open: () throws(StoreError) -> File) throws(StoreError) -> File {
    do throws(StoreError) {
      return try open()
    } catch {
      guard case .system(_, _, EMFILE) = error else { throw error }
      closeSome()
      return try open()
    }
  }

  /// Closes idle files until the number of open ones is an eighth below the limit, so that not every new body has to do this.
  private func closeOldest(_ crowd: [StoredBody]) {
    closeOldest(crowd, count: crowd.count + 1 - (limit - limit / 8))
  }

  private func closeOldest(_ crowd: [StoredBody], count: Int) {
    let idle = crowd.compactMap { body in body.idleSince.map { (body, $0) } }.sorted { $0.1 < $1.1 }
    var excess = count
    for (body, _) in idle where excess > 0 {
      guard body.closeIfIdle() else { continue }
      remove(ObjectIdentifier(body))
      excess -= 1
    }
  }
}
