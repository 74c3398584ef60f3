import CLinux
import PawlBase
import PawlLoop
package import PawlServer

/// The origin of `pawl demo`: a small HTTP/1.0 server that behaves like an old application. It has neither ranges nor validators,
/// breaks off at random, and takes an upload only in one piece. One thread for each connection; for demonstrations only.
package final class LegacyOrigin: Sendable {
  package let port: UInt16
  package let size: UInt64
  private let listener: CInt
  private let brokenOff = Locked(0)
  private let served = Locked(0)
  private let received = Locked((count: 0, sha256: ""))

  /// The number of connections that this origin has reset or closed early.
  package var breaks: Int { brokenOff.withLock { $0 } }
  package var requests: Int { served.withLock { $0 } }

  /// The number of complete uploads.
  package var uploads: Int { received.withLock { $0.count } }
  /// The SHA-256 of the last upload, in hexadecimal digits.
  var lastUpload: String { received.withLock { $0.sha256 } }

  /// Opens a port that the system chooses.
  /// - Throws: when no port on 127.0.0.1 can be opened.
  package init(size: UInt64) throws(ServerError) {
    self.size = size
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        pawl_bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && pawl_getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, bound else { throw .address("127.0.0.1:0", errorText(pawl_errno())) }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
  }

  /// Serves until the process ends.
  package func start() throws(ServerError) {
    do throws(LoopError) {
      _ = try LoopThread(name: "legacy-origin") { [self] in
        while true {
          let connection = pawl_accept_blocking(listener)
          guard connection >= 0 else { continue }
          serveOnThread(connection)
        }
      }
    } catch { throw .system("\(error)") }
  }

  private func serveOnThread(_ connection: CInt) {
    do throws(LoopError) { _ = try LoopThread(name: "legacy-conn") { [self] in serve(connection) } } catch {
      close(connection)
    }
  }

  private func serve(_ connection: CInt) {
    defer { close(connection) }
    guard let request = readHead(connection) else { return }
    if request.line.starts(with: Array("POST /upload ".utf8)) { return take(request, connection) }
    guard request.line.starts(with: Array("GET /download.bin ".utf8)) else {
      return send(
        connection, Array("HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\nTry /download.bin\n".utf8))
    }
    let number = served.withLock { served in
      served += 1
      return served
    }
    send(
      connection,
      Array("HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: \(size)\r\n\r\n".utf8))
    // The first two connections break off, so that there is something to see. Of the others, two in three break off. The offset
    // is random.
    let limit = Randomness.uint64() % (number <= 2 ? size : size * 3 / 2)
    var offset: UInt64 = 0
    while offset < min(size, limit) {
      let count = min(64 << 10, min(size, limit) - offset)
      guard sendAll(connection, Self.content(offset..<offset + count)) else { return }
      offset += count
    }
    guard offset < size else { return }
    brokenOff.withLock { $0 += 1 }
    if Randomness.uint64() & 1 == 0 {
      var hard = linger(l_onoff: 1, l_linger: 0)
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &hard, socklen_t(MemoryLayout<linger>.size))
    }
  }

  /// A request's head, and the bytes that came after it.
  private struct Request {
    var line: ArraySlice<UInt8>
    var fields: ArraySlice<UInt8>
    var rest: ArraySlice<UInt8>

    /// The value of Content-Length; an old server understands no other framing.
    var contentLength: UInt64? {
      for line in String(decoding: fields, as: UTF8.self).lowercased().split(separator: "\r\n")
      where line.hasPrefix("content-length:") {
        return UInt64(line.dropFirst(15).drop { $0 == " " })
      }
      return nil
    }
  }

  private func readHead(_ connection: CInt) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 32 << 10 {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes.append(contentsOf: buffer[..<count])
      guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) else { continue }
      let line = bytes.prefix { $0 != 13 }
      return Request(line: line, fields: bytes[line.endIndex..<end], rest: bytes[(end + 4)...])
    }
    return nil
  }

  /// Receives an upload, and counts it when all bytes have come.
  private func take(_ request: Request, _ connection: CInt) {
    guard let length = request.contentLength else {
      return send(connection, Array("HTTP/1.0 411 Length Required\r\n\r\n".utf8))
    }
    let digest = DemoDigest()
    digest.add(request.rest)
    var got = UInt64(request.rest.count)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while got < length {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      digest.add(buffer[..<count])
      got += UInt64(count)
    }
    let sha256 = digest.finish()
    received.withLock { $0 = ($0.count + 1, sha256) }
    send(
      connection,
      Array("HTTP/1.0 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 65\r\n\r\n\(sha256)\n".utf8))
  }

  private func send(_ connection: CInt, _ bytes: [UInt8]) { _ = sendAll(connection, bytes) }

  private func sendAll(_ connection: CInt, _ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        CLinux.send(connection, $0.baseAddress! + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Returns bytes of the file; each byte is computed from its offset alone.
  package static func content(_ range: Range<UInt64>) -> [UInt8] {
    range.map { offset in
      let block = (offset >> 3) &* 0x9e37_79b9_7f4a_7c15
      return UInt8(truncatingIfNeeded: (block ^ block >> 29) >> ((offset & 7) * 8))
    }
  }
}
