import CLinux
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

/// A callback that is performed, and let go of, on its loop alone.
final class LoopReply<Value: Sendable>: @unchecked Sendable {
  // Safe: `body` is touched on the loop only, but for a loop that has ended.
  private let loop: EventLoop
  private var body: ((Value) -> Void)?

  init(on loop: EventLoop, _ body: @escaping (Value) -> Void) { (self.loop, self.body) = (loop, body) }

  /// On the loop.
  func perform(_ value: Value) {
    let body = body
    self.body = nil
    body?(value)
  }

  /// From any thread.
  func send(_ value: Value) { loop.run { self.perform(value) } }
}
