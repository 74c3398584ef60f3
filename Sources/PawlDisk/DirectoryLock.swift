import CLinux
import PawlBase
import PawlLoop

/// Keeps a second process out of the directory of a store, by `flock(2)` on the file `lock` in it. The file stays when pawl ends:
/// only the lock has a meaning, not the file. While the process that has the lock is about to end, the file says so.
package final class DirectoryLock: Sendable {
  private let descriptor: Locked<CInt>

  /// Locks the directory; creates it if it is missing.
  /// - Throws: ``StoreError/inUse(path:)`` while another process has the lock.
  package init(_ path: String) throws(StoreError) {
    try Files.makeDirectories(path)
    let file = try Files.open(path + "/lock", O_RDWR | O_CREAT)
    guard Self.lock(file) else {
      let error: StoreError = pawl_errno() == EWOULDBLOCK ? .inUse(path: path) : Files.failure("flock", path)
      close(file)
      throw error
    }
    // What an earlier process said of its end.
    _ = ftruncate(file, 0)
    descriptor = Locked(file)
  }

  private static let endMark: StaticString = "ending\n"

  /// Says in the file of the lock that this process will end, so that one that starts waits (``isAboutToBeReleased(_:)``).
  package func announceEnd() {
    descriptor.withLock { descriptor in
      guard descriptor >= 0 else { return }
      // If this fails, the other process does not wait, and says that the directory is in use.
      _ = pwrite(descriptor, Self.endMark.utf8Start, Self.endMark.utf8CodeUnitCount, 0)
    }
  }

  /// Whether another process has the lock of the directory at this path, and has said that it ends. Takes a free lock for a moment.
  package static func isAboutToBeReleased(_ path: String) -> Bool {
    let file = pawl_open(path + "/lock", O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { return false }
    defer { close(file) }
    guard flock(file, LOCK_EX | LOCK_NB) != 0, pawl_errno() == EWOULDBLOCK else { return false }
    var first: UInt8 = 0
    return pread(file, &first, 1, 0) == 1 && first == endMark.utf8Start[0]
  }

  deinit { release() }

  /// Takes the lock. `pawl check` may have it for a moment, so a lock that is taken is tried again for a few milliseconds.
  private static func lock(_ file: CInt) -> Bool {
    for _ in 0..<5 {
      if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
      guard pawl_errno() == EWOULDBLOCK else { return false }
      usleep(2000)
    }
    return flock(file, LOCK_EX | LOCK_NB) == 0
  }

  /// Whether this is the lock of the directory at that path.
  package func isOf(_ path: String) -> Bool {
    var (mine, other) = (stat(), stat())
    let isHeld = descriptor.withLock { $0 >= 0 && fstat($0, &mine) == 0 }
    guard isHeld, stat(path + "/lock", &other) == 0 else { return false }
    return mine.st_dev == other.st_dev && mine.st_ino == other.st_ino
  }

  /// Unlocks the directory.
  package func release() {
    descriptor.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }
}
