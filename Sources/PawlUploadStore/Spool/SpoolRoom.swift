import PawlBase
import PawlDisk
import PawlLoop

/// Space in the spool for content that is not a resumable upload: ordinary requests that are spooled first, and responses that
/// are too long to be kept in the catalogue. The space counts against the spool and the client's share, and is given back when
/// this object is deallocated. May be used on any thread.
package final class SpoolRoom: Sendable {
  private let budget: UploadBudget
  private let client: [UInt8]
  private let charge: DiskCharge
  private let taken = Locked<UInt64>(0)

  init(_ budget: UploadBudget, _ client: [UInt8]) {
    (self.budget, self.client) = (budget, client)
    charge = DiskCharge(budget.disk, bytes: 0)
    charge.drop()
  }

  deinit { budget.forget(client, taken.withLock { $0 }) }

  /// Takes space for `bytes` more bytes. Returns `nil`, or why there is no space: ``UploadStoreRefusal/full``,
  /// ``UploadStoreRefusal/clientShare``.
  package func grow(by bytes: UInt64) -> UploadStoreRefusal? {
    if let refusal = budget.take(client, bytes) { return refusal }
    charge.grow(bytes)
    taken.withLock { $0 += bytes }
    return nil
  }
}

extension UploadStore {
  /// Makes the account for the content of one message; no space is taken yet.
  /// - Parameter client: the client whose share the space counts against (``UploadOrigin/client``); empty: no client.
  package func makeRoom(for client: [UInt8]) -> SpoolRoom { SpoolRoom(core.budget, client) }
}
