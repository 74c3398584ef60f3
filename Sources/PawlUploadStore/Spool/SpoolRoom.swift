import PawlBase
import PawlDisk
import PawlLoop

/// Room of the spool for content that is no upload of its own: ordinary requests that are taken in whole first, answers too
/// long to be kept. It comes out of what uploads have and out of its client's share, and goes back when the last one lets
/// go of this. Any thread.
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

  /// Takes so many bytes more; or says why not: ``UploadStoreRefusal/full``, ``UploadStoreRefusal/clientShare``.
  package func grow(by bytes: UInt64) -> UploadStoreRefusal? {
    if let refusal = budget.take(client, bytes) { return refusal }
    charge.grow(bytes)
    taken.withLock { $0 += bytes }
    return nil
  }
}

extension UploadStore {
  /// Room for one content; none is taken yet.
  /// - Parameter client: whose share it comes out of (``UploadOrigin/client``); empty: nobody's.
  package func makeRoom(for client: [UInt8]) -> SpoolRoom { SpoolRoom(core.budget, client) }
}
