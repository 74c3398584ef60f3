import CLinux
package import PawlConfig
import PawlDisk

/// The files of the logs when root becomes another user. That user opens them, now and at each reopening, so root gives them to it first:
/// a file that is missing or root's own, in a directory where only root can put anything. Elsewhere somebody could have put a link
/// there, and root would give away what that leads to. Blocking.
package enum LogFiles {
  /// Makes the log files of a configuration that are missing, and gives them to the user that pawl becomes, as far as they may be given.
  /// Does nothing without `user`, or if this process is not root's. Whether a log can be opened is found out by opening it.
  package static func give(_ settings: ProcessSettings) {
    let user = FileUser(becoming: settings)
    for case .file(let path) in [settings.log, settings.accessLog] where canBeGiven(path, to: user) {
      guard let account = user.account else { continue }
      let file = pawl_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0o640)
      guard file >= 0 else { continue }
      _ = fchown(file, account.user, account.group)
      close(file)
    }
  }

  /// Runs `body` with the rights that pawl has once it has become `user`.
  package static func asUser<R, E>(_ settings: ProcessSettings, _ body: () throws(E) -> R) throws(E) -> R {
    let result = FileUser(becoming: settings).act { () -> Result<R, E> in
      do throws(E) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Whether root may give the file of a log to the user, who cannot open it by itself.
  static func canBeGiven(_ path: String, to user: FileUser) -> Bool {
    guard !user.isOwn, user.act({ FileTrial.problem(ofAppending: path) }) != nil else { return false }
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard isRootsAlone(directory), user.act({ access(of: directory) }) else { return false }
    var status = stat()
    guard lstat(path, &status) == 0 else { return pawl_errno() == ENOENT }
    return status.st_uid == 0 && status.st_nlink == 1 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
  }

  private static func access(of directory: String) -> Bool { faccessat(AT_FDCWD, directory, X_OK, AT_EACCESS) == 0 }

  /// Whether only root can put anything into a directory, and into those on the way to it. A link on the way counts as none.
  private static func isRootsAlone(_ directory: String) -> Bool {
    var path = directory
    while true {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR), status.st_uid == 0,
        status.st_mode & 0o022 == 0
      else { return false }
      guard path != "/", let slash = path.lastIndex(of: "/") else { return path == "/" }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
  }
}
