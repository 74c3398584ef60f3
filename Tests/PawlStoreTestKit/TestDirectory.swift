import CLinux
package import PawlDisk

/// A directory of its own under `TMPDIR`, removed at the end.
package final class TestDirectory {
  package let path: String

  package init(under parent: String? = nil) {
    let base = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    path = "\(base)/pawl-store-\(ObjectID.make().hex)"
    mkdir(path, 0o700)
  }

  deinit { Self.remove(path) }

  package static func remove(_ path: String) {
    for entry in entries(path) {
      if isDirectory(entry) { remove(entry) } else { unlink(entry) }
    }
    rmdir(path)
  }

  package static func entries(_ path: String) -> [String] {
    do throws(StoreError) {
      return try Files.names(in: path).map { "\(path)/\($0)" }
    } catch {
      return []
    }
  }

  package static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR)
  }

  /// What a killed process leaves behind: everything as it stands in the page cache at this moment.
  package func copy() throws -> TestDirectory {
    let target = TestDirectory()
    try Self.copy(path, to: target.path)
    return target
  }

  private static func copy(_ source: String, to target: String) throws {
    for entry in entries(source) {
      let copied = target + entry.dropFirst(source.count)
      if isDirectory(entry) {
        mkdir(copied, 0o700)
        try copy(entry, to: copied)
      } else {
        do throws(StoreError) {
          try write(try contents(entry), to: copied)
        } catch {
          // A file that is removed meanwhile is not in the copy, as after a kill at that moment.
          guard case .system(_, _, ENOENT) = error else { throw error }
        }
      }
    }
  }

  package static func contents(_ path: String) throws(StoreError) -> [UInt8] {
    let descriptor = try Files.open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(try Files.size(descriptor, path)))
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    return Array(bytes.prefix(count))
  }

  package static func write(_ bytes: [UInt8], to path: String) throws(StoreError) {
    let descriptor = try Files.open(path, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(descriptor) }
    guard bytes.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == bytes.count else {
      throw Files.failure("pwrite", path)
    }
  }
}
