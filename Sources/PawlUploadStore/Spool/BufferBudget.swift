import PawlBase
package import PawlDisk
import PawlLoop

/// What bytes on their way may occupy on disk beside uploads: out of a spool's budget, or, where there is none, out of one of a
/// directory's own; in either a client has its share. Any thread.
package final class BufferBudget: Sendable {
  /// Of a directory's own: percent of its file system, and of that for one client.
  private static let part: UInt64 = 10
  private static let share = 25
  private let budget: UploadBudget

  /// That of the spool.
  package init(of store: UploadStore) { budget = store.core.budget }

  /// For a directory that holds no spool, and is made where there is none. Blocking.
  package init(directory: String) throws(StoreError) {
    try Files.makeDirectories(directory)
    let space = try Files.space(of: directory)
    let disk = DiskBudget(
      maxSize: space.total * Self.part / 100, minFree: min(UploadStoreSettings.reserve, space.total / 20))
    disk.noteFree(space.free)
    budget = UploadBudget(disk, sharePercent: Self.share, openLimit: 0)
  }

  /// Room for one transfer of this client; none is taken yet.
  package func makeRoom(for client: [UInt8]) -> BufferRoom { BufferRoom(budget, client) }

  /// Bytes that are taken.
  package var usedBytes: UInt64 { budget.disk.used }
}

/// Room for what waits of one transfer; it goes back with this.
package final class BufferRoom: Sendable {
  private let budget: UploadBudget
  private let client: [UInt8]
  private let taken = Locked<UInt64>(0)

  init(_ budget: UploadBudget, _ client: [UInt8]) { (self.budget, self.client) = (budget, client) }

  deinit {
    let bytes = taken.withLock { $0 }
    budget.disk.uncharge(bytes)
    budget.forget(client, bytes)
  }

  /// Takes so many bytes more; `false`: the client's share, `max-size` or `min-free` leave no room for them.
  package func grow(by bytes: UInt64) -> Bool {
    let granted = budget.promise(client, upTo: bytes)
    guard granted == bytes else {
      budget.giveBack(client, granted)
      return false
    }
    budget.disk.convert(bytes)
    taken.withLock { $0 += bytes }
    return true
  }
}
