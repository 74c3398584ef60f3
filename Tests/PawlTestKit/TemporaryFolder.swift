import CLinux

/// A folder that goes away with its owner.
package final class TemporaryFolder {
  package let path: String

  package struct CannotBeMade: Error { package var code: CInt }

  package init() throws {
    var template = Array("/tmp/pawl-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CannotBeMade(code: pawl_errno()) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove(path) }

  package func make(_ name: String) {
    precondition(mkdir(path + "/" + name, 0o700) == 0, "no folder \(name)")
  }
  package func rename(_ name: String, to other: String) {
    precondition(CLinux.rename(path + "/" + name, path + "/" + other) == 0, "no \(name) to rename")
  }

  /// Makes or overwrites a file.
  package func write(_ name: String, _ text: String) {
    let descriptor = pawl_open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(descriptor >= 0, "no file \(name)")
    let bytes = Array(text.utf8)
    precondition(CLinux.write(descriptor, bytes, bytes.count) == bytes.count, "cannot write \(name)")
    close(descriptor)
  }

  /// The whole text of a small file; empty when it cannot be read.
  package func read(_ name: String) -> String {
    let descriptor = pawl_open(path + "/" + name, O_RDONLY, 0)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = CLinux.read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  private func remove(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != "." && name != ".." { remove(path + "/" + name) }
      }
      closedir(folder)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}
