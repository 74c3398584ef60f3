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

/// A run of a body file on its way to a socket. The descriptor stays open while the slice lives.
package struct FileSlice: Sendable {
  /// -1 when the file could not be opened again: sending fails with `EBADF`.
  package let fd: CInt
  package let offset: UInt64
  package let count: Int
  package let owner: any AnyObject & Sendable

  package init(fd: CInt, offset: UInt64, count: Int, owner: any AnyObject & Sendable) {
    (self.fd, self.offset, self.count, self.owner) = (fd, offset, count, owner)
  }

  /// Where in the file the body begins.
  package var base: UInt64 { (owner as? BodyDescriptor)?.base ?? 0 }
}
