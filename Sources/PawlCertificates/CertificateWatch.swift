import CLinux
import PawlLoop

/// The identity and times of a file, with links followed. Any change of the file, or of a link on the way, gives a different
/// mark.
struct FileMark: Hashable, Sendable {
  private var device: UInt64
  private var inode: UInt64
  private var size: Int64
  /// When the content changed last; ``changed``: content or metadata. Nanoseconds since 1970.
  private var modified: Int64
  private var changed: Int64

  /// Returns the mark of a file; `nil`: `stat` failed. Blocking.
  static func of(_ path: String) -> FileMark? {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
    return FileMark(
      device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int64(found.st_size),
      modified: nanoseconds(found.st_mtim), changed: nanoseconds(found.st_ctim))
  }
}

/// Decides when the files of a listener's certificates are read again.
///
/// A certificate and its key cannot be replaced in one step. So a failure is logged only when the files have not changed for
/// a while.
struct CertificateWatch<Mark: Hashable & Sendable>: Sendable {
  /// Files that have not changed for this time count as complete.
  static var settleTime: Duration { .seconds(3) }

  /// The marks of the files at the last reading whose result is final: the files were read, or the failure was logged.
  private var known: [Mark?]
  /// The marks when reading failed, and the time at which reading first failed with these marks.
  private var failed: (marks: [Mark?], since: Monotonic)?

  init(_ marks: [Mark?]) { known = marks }

  /// Returns whether to read the files, which have these marks now.
  mutating func looked(_ marks: [Mark?], at now: Monotonic) -> Bool {
    guard marks != known else {
      failed = nil
      return false
    }
    guard let failed, failed.marks == marks else { return true }
    return now - failed.since >= Self.settleTime
  }

  /// Records that the files were read.
  mutating func loaded(_ marks: [Mark?]) { (known, failed) = (marks, nil) }

  /// Records that the files could not be read.
  /// - Returns: whether to log the failure, because the files have stayed the same for ``settleTime``.
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
