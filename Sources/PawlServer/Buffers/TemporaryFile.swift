import CLinux
import PawlBase
import PawlHTTP
import PawlLoop

/// A file without a name. The file is freed with the last reference to this object, or when the process ends.
final class TemporaryFile: Sendable {
  let descriptor: CInt
  private let pool: WorkerPool
  private let spares: TemporaryFileSpares?

  /// Makes an empty file. Blocking, but only for the time that making an inode takes.
  /// - Parameter spares: the spare files of this directory; one of them is used if there is any, and this file becomes a spare in
  ///   the end.
  /// - Returns: `nil` if the system has no descriptor or no space left; `errno` has the reason.
  init?(in directory: String, pool: WorkerPool, spares: TemporaryFileSpares? = nil) {
    self.spares = spares
    if let spare = spares?.take() {
      (descriptor, self.pool) = (spare, pool)
      return
    }
    var descriptor = pawl_open(directory, O_RDWR | pawl_O_TMPFILE, 0o600)
    if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL].contains(pawl_errno()) {
      let path =
        "\(directory)/.temporary-\(String(decoding: Randomness.bytes(12).map { 0x61 + $0 % 26 }, as: UTF8.self))"
      descriptor = pawl_open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
      if descriptor >= 0 { unlink(path) }
    }
    guard descriptor >= 0 else { return nil }
    (self.descriptor, self.pool) = (descriptor, pool)
  }

  deinit {
    let (descriptor, spares) = (descriptor, spares)
    // Freeing the blocks of a large file takes a while.
    let letGo: @Sendable () -> Void = {
      if let spares { spares.give(descriptor) } else { close(descriptor) }
    }
    if !pool.run(letGo) { close(descriptor) }
  }

  /// Writes into the page cache. Returns `false` where the disk is full or broken.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
      if count > 0 {
        done += count
      } else if count == 0 || pawl_errno() != EINTR {
        return false
      }
    }
    return true
  }
}

/// Spare empty files of one directory, used again so that not every file needs a new inode. If many files come and go, file
/// systems such as ext4 need a long time to find an inode that was not freed a moment ago.
final class TemporaryFileSpares: Sendable {
  /// The most spare files; each has a descriptor.
  static let limit = DescriptorLimit.spare(atMost: 256)

  private let descriptors = Locked<[CInt]>([])

  deinit { for descriptor in descriptors.withLock({ $0 }) { close(descriptor) } }

  func take() -> CInt? { descriptors.withLock { $0.popLast() } }

  /// Empties a file and keeps it, or closes it. Blocking.
  func give(_ descriptor: CInt) {
    let isKept =
      ftruncate(descriptor, 0) == 0
      && descriptors.withLock { descriptors in
        guard descriptors.count < Self.limit else { return false }
        descriptors.append(descriptor)
        return true
      }
    if !isKept { close(descriptor) }
  }
}
