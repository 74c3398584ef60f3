import CLinux
import PawlDisk
import PawlLoop

/// An open body file, closed in the pool when the last one lets go: closing a file that was unlinked frees its blocks.
final class BodyDescriptor: Sendable {
  let raw: CInt
  private let pool: WorkerPool
  private let charge: DiskCharge

  init(adopting raw: CInt, pool: WorkerPool, charge: DiskCharge) {
    (self.raw, self.pool, self.charge) = (raw, pool, charge)
  }

  deinit {
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
}
