import PawlBase
package import PawlDisk
import PawlLoop

/// The budget for bytes that are buffered on disk on their way to a client or an origin. It is a part of a spool's budget or,
/// without a spool, a budget for one directory. Each client has its share. May be used on any thread.
package final class BufferBudget: Sendable {
  /// For a directory without a spool: the percentage of its file system that may be used, and the percentage of those bytes for one
  /// client.
  private static let part: UInt64 = 10
  private static let share = 25
  private let budget: UploadBudget

  /// Uses the budget of a spool.
  package init(of store: UploadStore) { budget = store.core.budget }

  /// Makes a budget for a directory without a spool. Creates the directory if it is missing. Blocking.
  package init(directory: String) throws(StoreError) {
    try Files.makeDirectories(directory)
    let space = try Files.space(of: directory)
    let disk = DiskBudget(
      maxSize: space.total * Self.part / 100, minFree: min(UploadStoreSettings.reserve, space.total / 20))
    disk.noteFree(space.free)
    budget = UploadBudget(disk, sharePercent: Self.share, openLimit: 0)
  }

  /// Makes the account for one transfer of this client; no space is taken yet.
  package func makeRoom(for client: [UInt8]) -> BufferRoom { BufferRoom(budget, client) }

  /// All bytes that the budget counts as used.
  package var usedBytes: UInt64 { budget.disk.used }
}

/// The space that one transfer has taken. It is given back when this object is deallocated.
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

  /// Takes space for `bytes` more bytes. `false`: the client's share, `max-size` or `min-free` leave no space for them.
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
