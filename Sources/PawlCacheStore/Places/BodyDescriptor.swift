import CLinux
import PawlDisk
import PawlLoop

/// An open file of a body, or a part of an open pack. A body's own file is closed in the pool when the last reference is dropped,
/// because closing a file that was unlinked frees its blocks, which takes time. A pack is shared by many bodies and closes its
/// file itself.
final class BodyDescriptor: Sendable {
  let raw: CInt
  /// The offset in the file at which the body begins.
  let base: UInt64
  /// The pack that the body is in; `nil`: a file of its own.
  let pack: Pack?
  private let pool: WorkerPool?
  private let charge: DiskCharge?

  init(adopting raw: CInt, pool: WorkerPool, charge: DiskCharge) {
    (self.raw, self.pool, self.charge) = (raw, pool, charge)
    (base, pack) = (0, nil)
  }

  init(in pack: Pack, at base: UInt64) {
    (raw, self.base, self.pack) = (pack.descriptor, base, pack)
    (pool, charge) = (nil, nil)
  }

  deinit {
    guard let pool else { return }
    let (raw, charge) = (raw, charge)
    let isQueued = pool.run {
      close(raw)
      withExtendedLifetime(charge) {}
    }
    if !isQueued { close(raw) }
  }
}
