import COpenSSL
import CLinux
package import PawlConfig
import PawlLoop
package import PawlObserve

/// `pawl demo`: a legacy origin, pawl before it, and one download that is interrupted twice over: by the origin, again
/// and again, which the client does not notice, and by the client itself, which goes on where it was.
package enum Demonstration {
  /// Octets of the file that the legacy origin offers.
  package static let size: UInt64 = 48 << 20

  /// Runs until Ctrl-C, or with `once` until the download has been shown. Blocking, on the main thread.
  /// - Parameter configure: makes the configuration of a pawl before the origin's URL.
  /// - Returns: whether the download came out right.
  package static func run(
    once: Bool, events: EventLog, configure: (_ origin: String) -> Configuration?, print: @escaping @Sendable (String) -> Void
  ) throws(ServerError) -> Bool {
    let origin = try LegacyOrigin(size: size)
    try origin.start()
    guard let configuration = configure("http://127.0.0.1:\(origin.port)") else { return false }
    let outcome = Locked(false)
    let failure = Locked<ServerError?>(nil)
    try ServerRun.serve(configuration, events: events, reload: { nil }) { line in
      let address = String(line.dropFirst("Ready: http://".count))
      introduce(address: address, origin: origin, print)
      let show: @Sendable () -> Void = {
        let isRight = DemoDownload(address: address, origin: origin, print: print).show()
        outcome.withLock { $0 = isRight }
        if once { kill(getpid(), SIGTERM) } else { print("\npawl goes on serving on http://\(address) until Ctrl-C.") }
      }
      do throws(LoopError) { _ = try LoopThread(name: "demo-client", show) } catch {
        failure.withLock { $0 = .system("\(error)") }
      }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    return outcome.withLock { $0 }
  }

  private static func introduce(address: String, origin: LegacyOrigin, _ print: (String) -> Void) {
    print(
      """
      A legacy origin listens on http://127.0.0.1:\(origin.port): HTTP/1.0, no ranges, no validators,
      and it breaks off two connections in three. pawl stands before it:

      Ready: http://\(address)

      Try, in another terminal:
        curl -o direct.bin http://127.0.0.1:\(origin.port)/download.bin   # breaks off, sooner or later
        curl -o whole.bin  http://\(address)/download.bin   # does not
        curl -I            http://\(address)/download.bin   # Accept-Ranges: bytes
        curl -r 0-99 -s    http://\(address)/download.bin | xxd | head -3
        curl -o part.bin -m 1 --limit-rate 4M http://\(address)/download.bin; curl -C - -o part.bin http://\(address)/download.bin

      """)
  }
}

/// The download that the demonstration shows by itself.
struct DemoDownload {
  let address: String
  let origin: LegacyOrigin
  let print: @Sendable (String) -> Void

  func show() -> Bool {
    guard let digest = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(digest) }
    EVP_DigestInit_ex(digest, EVP_sha256(), nil)
    let cut = Demonstration.size / 10
    print("Downloading http://\(address)/download.bin (\(Demonstration.size >> 20) MiB), and hanging up at 10 %:")
    guard let first = get(from: nil, ifRange: nil, stopAfter: cut, digest) else { return fail("no answer") }
    print("  \(first.statusLine)  ETag: \(first.tag)  Accept-Ranges: \(first.acceptRanges)  -> hung up after \(first.received) bytes")
    print("Resuming with Range: bytes=\(first.received)- and If-Range: \(first.tag):")
    guard let second = get(from: first.received, ifRange: first.tag, stopAfter: .max, digest) else {
      return fail("no answer")
    }
    print("  \(second.statusLine)  Content-Range: \(second.contentRange)  -> \(second.received) bytes")
    let seen = finish(digest)
    let isRight = seen == expected() && first.received + second.received == Demonstration.size && second.statusLine.contains("206")
    print("  SHA-256 \(seen.prefix(16))...: \(isRight ? "right" : "WRONG")")
    print(
      "The origin was asked \(origin.requests) times and broke off \(origin.breaks) times; the client saw one 200 and one 206.")
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
        guard let end = pending.indices.first(where: { pending[$0...].starts(with: [13, 10, 13, 10]) }) else { continue }
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
    for start in stride(from: UInt64(0), to: Demonstration.size, by: 1 << 20) {
      let bytes = LegacyOrigin.content(start..<min(Demonstration.size, start + 1 << 20))
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
