import CLinux
import PawlLoop

/// How a file stands on the disk, links followed: any change of it, or of a link on the way, is another mark.
struct FileMark: Hashable, Sendable {
  private var device: UInt64
  private var inode: UInt64
  private var size: Int64
  /// Nanoseconds since 1970: of the content, and of everything about it.
  private var modified: Int64
  private var changed: Int64

  /// `nil`: it cannot be looked at. Blocking.
  static func of(_ path: String) -> FileMark? {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
    return FileMark(
      device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int64(found.st_size),
      modified: nanoseconds(found.st_mtim), changed: nanoseconds(found.st_ctim))
  }
}

/// When the files of a listener's certificates are read again. A certificate and its key cannot be replaced at once, so
/// what does not fit together is tried again in silence until it has been left alone for a while.
struct CertificateWatch<Mark: Hashable & Sendable>: Sendable {
  /// Files that have not changed for so long are as they were meant to be.
  static var settleTime: Duration { .seconds(3) }

  /// As they were when they were read last, well or not.
  private var known: [Mark?]
  /// As they were when reading them failed, and since when they are so.
  private var failed: (marks: [Mark?], since: Monotonic)?

  init(_ marks: [Mark?]) { known = marks }

  /// Whether to read the files.
  mutating func looked(_ marks: [Mark?], at now: Monotonic) -> Bool {
    guard marks != known else {
      failed = nil
      return false
    }
    guard let failed, failed.marks == marks else { return true }
    return now - failed.since >= Self.settleTime
  }

  /// They were read, and are in use.
  mutating func loaded(_ marks: [Mark?]) { (known, failed) = (marks, nil) }

  /// They could not be read.
  /// - Returns: whether to say so: they stay like that.
  mutating func couldNotLoad(_ marks: [Mark?], at now: Monotonic) -> Bool {
    guard let failed, failed.marks == marks else {
      failed = (marks, now)
      return false
    }
    guard now - failed.since >= Self.settleTime else { return false }
    loaded(marks)
    return true
  }
}
