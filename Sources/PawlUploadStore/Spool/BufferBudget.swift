import PawlBase
package import PawlDisk
import PawlLoop

/// The budget for bytes that wait on disk on their way to a client or an origin: part of a spool's budget or, without a spool, a
/// budget of their directory. Each client has its share. Any thread.
package final class BufferBudget: Sendable {
  /// For a directory without a spool: the percentage of its file system, and the percentage of that for one client.
  private static let part: UInt64 = 10
  private static let share = 25
  private let budget: UploadBudget

  /// The budget of a spool.
  package init(of store: UploadStore) { budget = store.core.budget }

  /// A budget for a directory without a spool, which is made if it is missing. Blocking.
  package init(directory: String) throws(StoreError) {
    try Files.makeDirectories(directory)
    let space = try Files.space(of: directory)
    let disk = DiskBudget(
      maxSize: space.total * Self.part / 100, minFree: min(UploadStoreSettings.reserve, space.total / 20))
    disk.noteFree(space.free)
    budget = UploadBudget(disk, sharePercent: Self.share, openLimit: 0)
  }

  /// Makes the account for one transfer of this client; no room is taken yet.
  package func makeRoom(for client: [UInt8]) -> BufferRoom { BufferRoom(budget, client) }

  /// All bytes that are taken.
  package var usedBytes: UInt64 { budget.disk.used }
}

/// The room that one transfer has taken; it is given back when this is deallocated.
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

  /// Takes room for `bytes` more. `false`: the client's share, `max-size` or `min-free` leave no room for them.
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
