import CLinux
import PawlLoop

/// What tells that a file is the one it was, and that its content is as it was left: any change by somebody else shows in its
/// size or in the time of its last change, as far as the file system's clock goes (some milliseconds).
struct FileStamp: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  /// Bytes.
  let size: UInt64
  /// Nanoseconds since 1970.
  private let modified: Int
  /// Of the file's entry, too, nanoseconds since 1970: nobody sets this one back. 0 for a file without a name: that is pawl's alone,
  /// and was changed when it lost it.
  private let changed: Int

  /// One system call that never waits for the disk. `nil` when the kernel tells nothing.
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

  /// A time as it counts for looking at the file: some thousand a second.
  static func moment(_ now: Monotonic) -> UInt64 { now.nanoseconds >> 20 }

  private static func nanoseconds(_ time: timespec) -> Int { time.tv_sec &* 1_000_000_000 &+ time.tv_nsec }
}

/// What somebody else has done to a body file, as far as it was noticed.
package struct FileChange: Hashable, Sendable {
  /// How many changes there were; the rest is about the last of them.
  package internal(set) var count: UInt64 = 0
  /// Bytes that it was cut down to; `nil`: it was not cut, but written into, or cut and grown again.
  var size: UInt64?

  /// Whether bytes of `range` that were sent without being copied may have been changed while they waited for the network: the
  /// kernel sends them from where they are. Where a file is cut, the rest of that piece of memory is overwritten with zeros, 2 MiB
  /// at most; what follows is let go of as it is.
  package func spoils(_ range: Range<UInt64>) -> Bool {
    guard let size else { return !range.isEmpty }
    let end = (size + (Self.piece - 1)) / Self.piece * Self.piece
    return range.overlaps(size..<end)
  }

  private static let piece: UInt64 = 2 << 20
}
