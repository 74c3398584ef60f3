import CLinux

/// A run of a body file on its way to a socket. The descriptor stays open while the slice lives.
package struct FileSlice: Sendable {
  /// -1 when the file could not be opened again: sending fails with `EBADF`.
  package let fd: CInt
  package let offset: UInt64
  package let count: Int
  /// Where in the file the body begins.
  package let base: UInt64
  package let owner: any AnyObject & Sendable

  package init(fd: CInt, offset: UInt64, count: Int, base: UInt64 = 0, owner: any AnyObject & Sendable) {
    (self.fd, self.offset, self.count, self.base, self.owner) = (fd, offset, count, base, owner)
  }
}
