import CLinux
import PawlDisk

/// Tries whether files and directories can be used as `serve` would use them. Nothing is made or changed. Blocking.
package enum FileTrial {
  /// Returns why the directory of a store could not be used; `nil`: it can, or it can be made.
  package static func problem(ofDirectory path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return "\(path): \(Files.text(of: pawl_errno()))" }
    guard isDirectory(nearest) else { return "\(nearest) is not a directory" }
    if nearest != path {
      return may(nearest, W_OK | X_OK) ? nil : "cannot be made: \(nearest): \(reason())"
    }
    guard may(path, R_OK | W_OK | X_OK) else { return "\(path): \(reason())" }
    return problem(inside: path)
  }

  /// Returns why `state-dir` could not be used; `nil`: it can, or it can be made.
  package static func problem(ofStateDirectory path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return "\(path): \(Files.text(of: pawl_errno()))" }
    guard isDirectory(nearest) else { return "\(nearest) is not a directory" }
    if may(nearest, W_OK | X_OK) { return nil }
    return nearest == path ? "\(path): \(reason())" : "cannot be made: \(nearest): \(reason())"
  }

  /// Returns the first file of a store that cannot be written, such as one that another user made.
  private static func problem(inside path: String) -> String? {
    do throws(StoreError) {
      for name in try Files.names(in: path).sorted().prefix(mostNames) {
        let file = "\(path)/\(name)"
        if !may(file, isDirectory(file) ? R_OK | W_OK | X_OK : R_OK | W_OK), pawl_errno() != ENOENT {
          return "\(file): \(reason())"
        }
      }
      return nil
    } catch { return "\(error)" }
  }

  /// The most files of a directory that are looked at.
  static let mostNames = 100

  /// Returns why lines could not be appended to a file; `nil`: they can, or the file can be made.
  package static func problem(ofAppending path: String) -> String? {
    if isDirectory(path) { return "is a directory" }
    if Files.exists(path) { return may(path, W_OK) ? nil : reason() }
    guard pawl_errno() == ENOENT else { return reason() }
    let directory = directory(of: path)
    guard Files.exists(directory) else { return "the directory \(directory) does not exist" }
    return may(directory, W_OK | X_OK) ? nil : "cannot be made: \(directory): \(reason())"
  }

  /// Returns why no socket could be made at a path; `nil`: it can.
  package static func problem(ofSocket path: String) -> String? {
    let directory = directory(of: path)
    guard Files.exists(directory) else { return "the directory \(directory) does not exist" }
    return may(directory, W_OK | X_OK) ? nil : "cannot be made: \(directory): \(reason())"
  }

  /// Returns why a file cannot be read; `nil`: it can.
  package static func problem(ofReading path: String) -> String? { may(path, R_OK) ? nil : reason() }

  /// Whether every user of the machine can read the file, as far as its own mode says.
  package static func isOpenToAll(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & 0o004 != 0
  }

  /// Whether another process has the store in this directory open. The lock is taken for a moment where it is free.
  package static func isInUse(_ path: String) -> Bool {
    let lock = pawl_open("\(path)/lock", O_RDONLY, 0)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    return flock(lock, LOCK_EX | LOCK_NB) != 0 && pawl_errno() == EWOULDBLOCK
  }

  private static func may(_ path: String, _ rights: CInt) -> Bool { faccessat(AT_FDCWD, path, rights, AT_EACCESS) == 0 }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func reason() -> String { Files.text(of: pawl_errno()) }
}
