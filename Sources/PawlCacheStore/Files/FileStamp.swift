import CLinux
import PawlLoop

/// The identity, size and change times of a file. A change by another process alters the size or a time, unless it comes within a
/// few milliseconds of the last change, which is the precision of the file system's clock.
struct FileStamp: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  /// The size in bytes.
  let size: UInt64
  /// The time of the last change of the content, nanoseconds since 1970.
  private let modified: Int
  /// The time of the last change of the inode, nanoseconds since 1970; a process cannot set it back. 0 for a file that was
  /// unlinked: unlinking changes this time, so it is not compared. Only pawl has such a file open.
  private let changed: Int

  /// Reads the stamp with one system call that never waits for the disk. `nil` if the call fails.
  init?(of descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), UInt64(clamping: status.st_size))
    modified = Self.nanoseconds(status.st_mtim)
    changed = status.st_nlink > 0 ? Self.nanoseconds(status.st_ctim) : 0
  }

  static func == (one: FileStamp, other: FileStamp) -> Bool {
    one.device == other.device && one.inode == other.inode && one.size == other.size && one.modified == other.modified
      && (one.changed == other.changed || one.changed == 0 || other.changed == 0)
  }

  /// Converts a time to units of about a millisecond (2^20 ns), in which the last check of a file is noted.
  static func moment(_ now: Monotonic) -> UInt64 { now.nanoseconds >> 20 }

  private static func nanoseconds(_ time: timespec) -> Int { time.tv_sec &* 1_000_000_000 &+ time.tv_nsec }
}

/// The changes to a body file by other processes that pawl has noticed.
package struct FileChange: Hashable, Sendable {
  /// The number of changes. The other properties describe the last of them.
  package internal(set) var count: UInt64 = 0
  /// The size in bytes to which the file was truncated; `nil`: it was overwritten, or truncated and extended again.
  var size: UInt64?

  /// Whether bytes of `range` that were sent without being copied may have been changed while they waited for the network,
  /// because the kernel sends them from the page cache. If a file is truncated, the kernel fills the page that holds the new end
  /// with zeros from there on; a page has at most 2 MiB. Later pages leave the page cache unchanged, so their bytes are sent as
  /// they were.
  package func spoils(_ range: Range<UInt64>) -> Bool {
    guard let size else { return !range.isEmpty }
    let end = (size + (Self.piece - 1)) / Self.piece * Self.piece
    return range.overlaps(size..<end)
  }

  private static let piece: UInt64 = 2 << 20
}
