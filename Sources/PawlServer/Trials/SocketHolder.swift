import CLinux
import PawlDisk
import PawlLoop

/// The process that listens on an address, as far as this user may see it in `/proc`.
struct SocketHolder: Hashable {
  var process: Int
  /// The name of the program, at most 15 bytes.
  var name: String

  /// Whether it is systemd, which listens for the services of socket units.
  var isServiceManager: Bool { process == 1 || name == "systemd" }

  /// Returns the holder of a TCP address or of a unix socket; `nil`: it cannot be seen. Blocking.
  static func find(_ address: SocketAddress) -> SocketHolder? {
    let inodes: Set<String>
    if let path = address.unixPath {
      inodes = unixInodes(text(of: "/proc/net/unix"), path: path)
    } else {
      inodes = ["/proc/net/tcp", "/proc/net/tcp6"].reduce(into: Set()) { inodes, table in
        inodes.formUnion(inodesListening(text(of: table), port: address.port))
      }
    }
    return inodes.isEmpty ? nil : holder(of: Set(inodes.map { "socket:[\($0)]" }))
  }

  /// Returns the inodes of the sockets that listen on the port, from the text of `/proc/net/tcp` (proc(5)).
  static func inodesListening(_ table: String, port: UInt16) -> Set<String> {
    var found = Set<String>()
    for line in table.split(separator: "\n").dropFirst() {
      let columns = line.split(separator: " ")
      guard columns.count > 9, columns[3] == "0A", let colon = columns[1].lastIndex(of: ":"),
        UInt16(columns[1][columns[1].index(after: colon)...], radix: 16) == port
      else { continue }
      found.insert(String(columns[9]))
    }
    return found
  }

  /// Returns the inodes of the sockets with the path, from the text of `/proc/net/unix`.
  static func unixInodes(_ table: String, path: String) -> Set<String> {
    Set(
      table.split(separator: "\n").dropFirst().compactMap { line in
        let columns = line.split(separator: " ", maxSplits: 7)
        return columns.count == 8 && columns[7] == path ? String(columns[6]) : nil
      })
  }

  private static func holder(of links: Set<String>) -> SocketHolder? {
    for name in names(in: "/proc") {
      guard let process = Int(name) else { continue }
      for descriptor in names(in: "/proc/\(name)/fd") where links.contains(target("/proc/\(name)/fd/\(descriptor)")) {
        let program = text(of: "/proc/\(name)/comm")
        return SocketHolder(process: process, name: String(program.prefix { $0 != "\n" }))
      }
    }
    return nil
  }

  /// Empty for directories of processes of other users, and of those that have ended.
  private static func names(in path: String) -> [String] {
    do throws(StoreError) { return try Files.names(in: path) } catch { return [] }
  }

  private static func target(_ link: String) -> String {
    var bytes = [CChar](repeating: 0, count: 64)
    let count = readlink(link, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Empty if the file cannot be read.
  private static func text(of path: String) -> String {
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
