import CLinux
import PawlDisk

/// Files of `/proc`, as far as this user may read them.
enum ProcessFiles {
  /// Empty for directories of processes of other users, and of those that have ended.
  static func names(in path: String) -> [String] {
    do throws(StoreError) { return try Files.names(in: path) } catch { return [] }
  }

  /// Where a link leads; empty: it cannot be read.
  static func target(_ link: String) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Empty if the file cannot be read.
  static func text(of path: String) -> String {
    let descriptor = pawl_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, pawl_errno() == EINTR { continue }
      if count <= 0 { return String(decoding: text, as: UTF8.self) }
      text += buffer.prefix(count)
    }
  }
}
