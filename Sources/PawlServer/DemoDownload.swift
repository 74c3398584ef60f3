import CLinux
import COpenSSL
import PawlLoop

/// The download that the demonstration shows by itself.
struct DemoDownload {
  let address: String
  let origin: LegacyOrigin
  let print: @Sendable (String) -> Void

  func show() -> Bool {
    guard let digest = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(digest) }
    EVP_DigestInit_ex(digest, EVP_sha256(), nil)
    let cut = origin.size / 10
    print("Downloading http://\(address)/download.bin (\(origin.size >> 20) MiB), and hanging up at 10 %:")
    guard let first = get(from: nil, ifRange: nil, stopAfter: cut, digest) else { return fail("no answer") }
    print(
      "  \(first.statusLine)  ETag: \(first.tag)  Accept-Ranges: \(first.acceptRanges)  -> hung up after \(first.received) bytes"
    )
    print("Resuming with Range: bytes=\(first.received)- and If-Range: \(first.tag):")
    guard let second = get(from: first.received, ifRange: first.tag, stopAfter: .max, digest) else {
      return fail("no answer")
    }
    print("  \(second.statusLine)  Content-Range: \(second.contentRange)  -> \(second.received) bytes")
    let seen = finish(digest)
    let isRight =
      seen == expected() && first.received + second.received == origin.size && second.statusLine.contains("206")
    print("  SHA-256 \(seen.prefix(16))...: \(isRight ? "right" : "WRONG")")
    print(
      "The origin was asked \(origin.requests) times and broke off \(origin.breaks) times; the client saw one 200 and one 206."
    )
    return isRight
  }

  private func fail(_ why: String) -> Bool {
    print("  the demonstration failed: \(why)")
    return false
  }

  private struct Answer {
    var statusLine = ""
    var tag = ""
    var acceptRanges = ""
    var contentRange = ""
    var received: UInt64 = 0
  }

  private func get(from start: UInt64?, ifRange: String?, stopAfter limit: UInt64, _ digest: OpaquePointer) -> Answer? {
    guard let address = SocketAddress.parse(address) else { return nil }
    let connection = socket(address.isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    guard connection >= 0 else { return nil }
    defer { close(connection) }
    guard address.withSockaddr({ pawl_connect(connection, $0, $1) }) == 0 else { return nil }
    var request = "GET /download.bin HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n"
    if let start, let ifRange { request += "Range: bytes=\(start)-\r\nIf-Range: \(ifRange)\r\n" }
    request += "\r\n"
    guard send(connection, request, request.utf8.count, CInt(MSG_NOSIGNAL)) == request.utf8.count else { return nil }
    var pending: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var answer: Answer?
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return answer }
      pending.append(contentsOf: buffer[..<count])
      if answer == nil {
        guard let end = pending.indices.first(where: { pending[$0...].starts(with: [13, 10, 13, 10]) }) else {
          continue
        }
        answer = head(String(decoding: pending[..<end], as: UTF8.self))
        pending.removeFirst(end + 4)
      }
      let taken = Int(min(UInt64(pending.count), limit - (answer?.received ?? 0)))
      EVP_DigestUpdate(digest, pending, taken)
      answer?.received += UInt64(taken)
      pending.removeAll(keepingCapacity: true)
      if answer?.received == limit { return answer }
    }
  }

  private func head(_ text: String) -> Answer {
    var answer = Answer()
    for (index, line) in text.split(separator: "\r\n").enumerated() {
      if index == 0 { answer.statusLine = String(line) }
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].drop { $0 == " " }
      switch parts[0].lowercased() {
      case "etag": answer.tag = String(value)
      case "accept-ranges": answer.acceptRanges = String(value)
      case "content-range": answer.contentRange = String(value)
      default: break
      }
    }
    return answer
  }

  private func expected() -> String {
    guard let digest = EVP_MD_CTX_new() else { return "" }
    defer { EVP_MD_CTX_free(digest) }
    EVP_DigestInit_ex(digest, EVP_sha256(), nil)
    for start in stride(from: UInt64(0), to: origin.size, by: 1 << 20) {
      let bytes = LegacyOrigin.content(start..<min(origin.size, start + 1 << 20))
      EVP_DigestUpdate(digest, bytes, bytes.count)
    }
    return finish(digest)
  }

  private func finish(_ digest: OpaquePointer) -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    EVP_DigestFinal_ex(digest, &bytes, &length)
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
