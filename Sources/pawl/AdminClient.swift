import CLinux
import PawlBase
import PawlLoop

/// Why the running server could not be asked.
enum AdminFailure: Error {
  /// No process listens on the address.
  case notRunning(String)
  /// Everything else: no permission, no answer in time, an answer that cannot be read.
  case failed(String)
}

/// An answer of the admin interface.
struct AdminAnswer {
  var status: Int
  var content: [UInt8]

  /// The content as JSON; `null` if it is none.
  var json: JSONValue.Content {
    do throws(JSONFault) { return try JSONParser.parse(content).content } catch { return .null }
  }

  var text: String { String(decoding: content, as: UTF8.self) }
  /// What an error response says (RFC 9457).
  var problem: String { json["detail"].text ?? "the server answered \(status)" }
}

/// Asks a running server over its admin interface: one request on a connection, blocking, with a limit on time and size. TLS is
/// left to curl.
struct AdminClient {
  /// The longest answer, in bytes: a list of 10,000 uploads has 5 MiB.
  static let longestAnswer = 64 << 20
  static let usualSeconds = 30

  let address: SocketAddress
  let token: String?

  /// - Parameter seconds: how long the server may say nothing.
  func ask(
    _ method: String, _ target: String, _ content: String? = nil, seconds: Int = usualSeconds
  ) throws(AdminFailure) -> AdminAnswer {
    let socket = try connected(seconds)
    var request = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: pawl\r\nConnection: close\r\n"
    if let token, !address.isUnix { request += "Authorization: Bearer \(token)\r\n" }
    if let content { request += "Content-Type: application/json\r\nContent-Length: \(content.utf8.count)\r\n" }
    try send(Array("\(request)\r\n\(content ?? "")".utf8), socket.raw)
    return try answer(try receive(socket.raw))
  }

  private var host: String {
    address.isUnix ? "localhost" : address.isIPv6 ? "[\(address.hostText)]:\(address.port)" : "\(address)"
  }

  // MARK: The connection

  private func connected(_ seconds: Int) throws(AdminFailure) -> OwnedDescriptor {
    let raw = socket(
      address.isUnix ? AF_UNIX : address.isIPv6 ? AF_INET6 : AF_INET,
      CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard raw >= 0 else { throw .failed("cannot open a socket: \(Self.reason)") }
    let socket = OwnedDescriptor(adopting: raw)
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(raw, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard address.withSockaddr({ pawl_connect(raw, $0, $1) }) != 0 else { return socket }
    switch pawl_errno() {
    case ENOENT: throw .notRunning("no socket at \(address.unixPath ?? "\(address)")")
    case ECONNREFUSED: throw .notRunning("nothing listens on \(address.unixPath ?? "\(address)")")
    case EACCES, EPERM:
      throw .failed(
        "no permission for \(address.unixPath ?? "\(address)"): only the user of the server and root may use it")
    default: throw .failed("cannot connect to \(address): \(Self.reason)")
    }
  }

  private static var reason: String { String(cString: strerror(pawl_errno())) }

  private func send(_ bytes: [UInt8], _ socket: CInt) throws(AdminFailure) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        CLinux.send(socket, $0.baseAddress.map { $0 + sent }, $0.count - sent, pawl_MSG_NOSIGNAL)
      }
      if count < 0, pawl_errno() == EINTR { continue }
      guard count > 0 else { throw .failed("the server does not take the request: \(Self.reason)") }
      sent += count
    }
  }

  private func receive(_ socket: CInt) throws(AdminFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(socket, &buffer, buffer.count)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count >= 0 else {
        throw .failed(pawl_errno() == EAGAIN ? "the server does not answer" : "no answer: \(Self.reason)")
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= Self.longestAnswer else {
        throw .failed("the answer is longer than \(Self.longestAnswer) bytes")
      }
    }
  }

  // MARK: The answer

  private func answer(_ bytes: [UInt8]) throws(AdminFailure) -> AdminAnswer {
    let mark = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }),
      bytes.starts(with: "HTTP/1.1 ".utf8)
    else { throw .failed(bytes.isEmpty ? "the server ended the connection" : "this is no answer of pawl") }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw .failed("this is no answer of pawl")
    }
    let content = Array(bytes[(end + mark.count)...])
    let length = lines.dropFirst().first { $0.lowercased().hasPrefix("content-length:") }?.split(separator: " ").last
    if let length, Int(length) != content.count { throw .failed("the answer is incomplete") }
    return AdminAnswer(status: status, content: content)
  }
}

// MARK: - Reading JSON

extension JSONValue.Content {
  /// The member of an object; `null` if there is none.
  subscript(name: String) -> JSONValue.Content {
    guard case .object(let members) = self else { return .null }
    return members.first { $0.name == name }?.value.content ?? .null
  }

  var elements: [JSONValue.Content] {
    guard case .array(let all) = self else { return [] }
    return all.map(\.content)
  }

  var members: [(name: String, value: JSONValue.Content)] {
    guard case .object(let all) = self else { return [] }
    return all.map { ($0.name, $0.value.content) }
  }

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var isTrue: Bool { self == .bool(true) }

  var number: Double? { if case .number(let text) = self { Double(text) } else { nil } }
  /// The number as bytes or seconds; 0 if there is none.
  var count: UInt64 { number.map { $0 > 0 && $0 < 1e18 ? UInt64($0) : 0 } ?? 0 }
  var seconds: Int64 { Int64(clamping: count) }
}
