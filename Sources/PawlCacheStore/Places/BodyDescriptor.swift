import CLinux
import PawlDisk
import PawlLoop

/// An open body file, closed in the pool when the last one lets go: closing a file that was unlinked frees its blocks. Or a part of a
/// pack, which others have parts of.
final class BodyDescriptor: Sendable {
  let raw: CInt
  /// Where in the file the body begins.
  let base: UInt64
  /// The pack that it is a part of.
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
