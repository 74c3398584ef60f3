/// The download that the demonstration runs by itself: interrupted by the client, and resumed.
struct DemoDownload {
  let address: String
  let origin: LegacyOrigin
  let print: @Sendable (String) -> Void

  func show() -> Bool {
    let digest = DemoDigest()
    let cut = origin.size / 10
    print("Downloading http://\(address)/download.bin (\(origin.size >> 20) MiB), and hanging up at 10 %:")
    guard let first = get(from: nil, ifRange: nil, stopAfter: cut, digest) else { return fail("no answer") }
    let tag = first.head["etag"]
    print(
      "  \(first.head.statusLine)  ETag: \(tag)  Accept-Ranges: \(first.head["accept-ranges"])"
        + "  -> hung up after \(first.received) bytes")
    print("Resuming with Range: bytes=\(first.received)- and If-Range: \(tag):")
    guard let second = get(from: first.received, ifRange: tag, stopAfter: .max, digest) else {
      return fail("no answer")
    }
    print(
      "  \(second.head.statusLine)  Content-Range: \(second.head["content-range"])  -> \(second.received) bytes")
    let seen = digest.finish()
    let isRight =
      seen == DemoDigest.ofContent(origin.size) && first.received + second.received == origin.size
      && second.head.status == 206
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

  private func get(
    from start: UInt64?, ifRange: String?, stopAfter limit: UInt64, _ digest: DemoDigest
  ) -> (head: DemoConnection.Head, received: UInt64)? {
    guard let connection = DemoConnection(to: address) else { return nil }
    var request = "GET /download.bin HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n"
    if let start, let ifRange { request += "Range: bytes=\(start)-\r\nIf-Range: \(ifRange)\r\n" }
    guard connection.send(Array((request + "\r\n").utf8)), let head = connection.readHead() else { return nil }
    var received: UInt64 = 0
    while received < limit, let bytes = connection.read(limit: Int(clamping: limit - received)) {
      digest.add(bytes)
      received += UInt64(bytes.count)
    }
    return (head, received)
  }
}
