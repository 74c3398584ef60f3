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
      inodes = unixInodes(ProcessFiles.text(of: "/proc/net/unix"), path: path)
    } else {
      inodes = ["/proc/net/tcp", "/proc/net/tcp6"].reduce(into: Set()) { inodes, table in
        inodes.formUnion(inodesListening(ProcessFiles.text(of: table), port: address.port))
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
    for name in ProcessFiles.names(in: "/proc") {
      guard let process = Int(name) else { continue }
      for descriptor in ProcessFiles.names(in: "/proc/\(name)/fd")
      where links.contains(ProcessFiles.target("/proc/\(name)/fd/\(descriptor)")) {
        let program = ProcessFiles.text(of: "/proc/\(name)/comm")
        return SocketHolder(process: process, name: String(program.prefix { $0 != "\n" }))
      }
    }
    return nil
  }
}
