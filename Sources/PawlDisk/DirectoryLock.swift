import CLinux
import PawlBase
import PawlLoop

/// Keeps a second process out of a cache directory: `flock(2)` on its file `lock`, which stays when pawl ends and means
/// nothing by itself.
package final class DirectoryLock: Sendable {
  private let descriptor: Locked<CInt>

  /// Makes the directory where it is missing.
  /// - Throws: ``StoreError/inUse(path:)`` while another has it.
  package init(_ path: String) throws(StoreError) {
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

  /// Whether it is this process that has the directory of that path, by this lock.
  package func isOf(_ path: String) -> Bool {
    var (mine, other) = (stat(), stat())
    let isHeld = descriptor.withLock { $0 >= 0 && fstat($0, &mine) == 0 }
    guard isHeld, stat(path + "/lock", &other) == 0 else { return false }
    return mine.st_dev == other.st_dev && mine.st_ino == other.st_ino
  }

  /// Lets others in.
  package func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
