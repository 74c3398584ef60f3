import CLinux

/// A range of a body file that is being sent to a socket. The descriptor stays open while the slice exists.
package struct FileSlice: Sendable {
  /// The descriptor; -1 if the file could not be opened again. Then sending fails with `EBADF`.
  package let fd: CInt
  package let offset: UInt64
  package let count: Int
  /// The offset in the file at which the body begins.
  package let base: UInt64
  package let keeper: any AnyObject & Sendable

  package init(fd: CInt, offset: UInt64, count: Int, base: UInt64 = 0, keeper: any AnyObject & Sendable) {
    (self.fd, self.offset, self.count, self.base, self.keeper) = (fd, offset, count, base, keeper)
  }
}
