import CLinux
import PawlDisk

/// Tries whether files and directories can be used as `serve` would use them. Nothing is made or changed. Blocking.
package enum FileTrial {
  /// Returns why the directory of a store could not be used; `nil`: it can, or it can be made.
  package static func problem(ofDirectory path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return "\(path): \(Files.text(of: pawl_errno()))" }
    guard isDirectory(nearest) else { return "\(nearest) is not a directory" }
    guard nearest == path else { return problem(ofMaking: path, in: nearest) }
    guard may(path, R_OK | W_OK | X_OK) else { return "\(path): \(reason())" }
    return problem(inside: path)
  }

  /// Returns why `state-dir` could not be used; `nil`: it can, or it can be made.
  package static func problem(ofStateDirectory path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return "\(path): \(Files.text(of: pawl_errno()))" }
    guard isDirectory(nearest) else { return "\(nearest) is not a directory" }
    guard nearest == path else { return problem(ofMaking: path, in: nearest) }
    return may(path, W_OK | X_OK) ? nil : "\(path): \(reason())"
  }

  /// Returns why what another user makes at a path, and gives to this one, could not be reached; `nil`: it can.
  package static func problem(ofReaching path: String) -> String? {
    guard let nearest = StoreRoom.nearest(path) else { return "\(path): \(Files.text(of: pawl_errno()))" }
    return may(nearest, X_OK) ? nil : "cannot be made: \(nearest): \(reason())"
  }

  /// - Parameter nearest: the directory above it that is there.
  private static func problem(ofMaking path: String, in nearest: String) -> String? {
    guard may(nearest, W_OK | X_OK) else { return "cannot be made: \(nearest): \(reason())" }
    // In these file systems only the kernel makes directories, whatever the permissions say.
    guard StoreRoom.isOfKernel(nearest), let name = path.dropFirst(nearest.count).split(separator: "/").first else {
      return nil
    }
    let first = nearest == "/" ? "/\(name)" : "\(nearest)/\(name)"
    guard mkdir(first, 0o700) != 0 else {
      rmdir(first)
      return nil
    }
    return "cannot be made: mkdir \(first): \(reason())"
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
    if Files.exists(path) {
      guard may(path, W_OK) else { return reason() }
      // A pipe that nobody reads.
      guard !isRegular(path) else { return nil }
      let descriptor = pawl_open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK, 0)
      guard descriptor >= 0 else { return reason() }
      close(descriptor)
      return nil
    }
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

  /// Returns the process that has the store in this directory open; `nil`: it is not known. From the text of `/proc/locks` (proc(5)).
  static func holder(of path: String, _ locks: String = ProcessFiles.text(of: "/proc/locks")) -> Int? {
    var status = stat()
    guard stat("\(path)/lock", &status) == 0 else { return nil }
    for line in locks.split(separator: "\n") {
      let columns = line.split(separator: " ")
      guard columns.count > 5, columns[1] == "FLOCK", columns[5].split(separator: ":").last == "\(status.st_ino)" else {
        continue
      }
      return Int(columns[4]).flatMap { $0 > 0 ? $0 : nil }
    }
    return nil
  }

  private static func may(_ path: String, _ rights: CInt) -> Bool { faccessat(AT_FDCWD, path, rights, AT_EACCESS) == 0 }

  private static func isDirectory(_ path: String) -> Bool { isOfKind(S_IFDIR, path) }
  private static func isRegular(_ path: String) -> Bool { isOfKind(S_IFREG, path) }

  private static func isOfKind(_ kind: CInt, _ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(kind)
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func reason() -> String { Files.text(of: pawl_errno()) }
}
