import CLinux
import PawlLoop

/// Keeps a second process out of a cache directory: `flock(2)` on its file `lock`, which stays when pawl ends and means
/// nothing by itself.
final class DirectoryLock: Sendable {
  private let descriptor: Locked<CInt>

  /// Makes the directory where it is missing.
  /// - Throws: ``StoreError/inUse(path:)`` while another has it.
  init(_ path: String) throws(StoreError) {
    try Files.makeDirectories(path)
    let file = try Files.open(path + "/lock", O_RDWR | O_CREAT)
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let error: StoreError = pawl_errno() == EWOULDBLOCK ? .inUse(path: path) : Files.failure("flock", path)
      close(file)
      throw error
    }
    descriptor = Locked(file)
  }

  deinit { release() }

  /// Lets others in.
  func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
