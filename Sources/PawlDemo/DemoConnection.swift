import CLinux
import PawlLoop

/// An HTTP/1.1 connection of the demonstration's client. Blocking; for one thread.
final class DemoConnection {
  /// The head of a response.
  struct Head {
    var statusLine: String
    private var fields: [(name: String, value: String)] = []

    init(_ text: String) {
      let lines = text.split(separator: "\r\n")
      statusLine = lines.first.map(String.init) ?? ""
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { continue }
        fields.append((parts[0].lowercased(), String(parts[1].drop { $0 == " " })))
      }
    }

    var status: Int { statusLine.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
    /// The value of the first field with this name; empty when there is none.
    subscript(name: String) -> String { fields.first { $0.name == name }?.value ?? "" }
  }

  private let descriptor: CInt
  private var pending: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)

  init?(to address: String) {
    guard let address = SocketAddress.parse(address) else { return nil }
    descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0, address.withSockaddr({ pawl_connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { pointer in
        CLinux.send(descriptor, pointer.baseAddress.map { $0 + sent }, bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Reads the next head, also of an interim response; `nil`: the connection ended before the head was complete.
  func readHead() -> Head? {
    while true {
      if let end = pending.indices.first(where: { pending[$0...].starts(with: [13, 10, 13, 10]) }) {
        defer { pending.removeFirst(end + 4) }
        return Head(String(decoding: pending[..<end], as: UTF8.self))
      }
      guard fill() else { return nil }
    }
  }

  /// Reads the next bytes of the content, at most `limit`; `nil`: there are no more bytes.
  func read(limit: Int) -> ArraySlice<UInt8>? {
    if pending.isEmpty, !fill() { return nil }
    let taken = pending.prefix(limit)
    pending.removeFirst(taken.count)
    return taken
  }

  private func fill() -> Bool {
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    pending.append(contentsOf: buffer[..<count])
    return true
  }
}
