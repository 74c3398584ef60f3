/// The upload that the demonstration runs by itself: in the form that URLSession uses, interrupted, and resumed.
struct DemoUpload {
  /// The size of the upload in bytes.
  static let size: UInt64 = 24 << 20

  let address: String
  let origin: LegacyOrigin
  let print: @Sendable (String) -> Void

  func show() -> Bool {
    let cut = Self.size * 2 / 5
    print("\nUploading \(Self.size >> 20) MiB to http://\(address)/upload, and hanging up at 40 %:")
    guard let location = begin(sending: cut) else { return fail("no upload URL") }
    print("Asking http://\(address)\(path(of: location).prefix(24))... how much is there:")
    guard let offset = ask(location) else { return fail("no offset") }
    print("  \(offset) bytes are safe; sending the rest:")
    guard let answer = finish(location, from: offset) else { return fail("no answer") }
    print("  \(answer.statusLine)  Upload-Offset: \(answer["upload-offset"])")
    let isRight =
      answer.status == 201 && origin.uploads == 1 && origin.lastUpload == DemoDigest.ofContent(Self.size)
    print("  SHA-256 \(origin.lastUpload.prefix(16))...: \(isRight ? "right" : "WRONG")")
    print("The origin saw \(origin.uploads) request, plain and complete; the answer is its own.")
    return isRight
  }

  private func fail(_ why: String) -> Bool {
    print("  the demonstration failed: \(why)")
    return false
  }

  private func path(of location: String) -> String {
    let host = "http://demo"
    return location.hasPrefix(host) ? String(location.dropFirst(host.count)) : location
  }

  private func request(_ line: String, _ fields: String) -> [UInt8] {
    Array("\(line) HTTP/1.1\r\nHost: demo\r\nUpload-Draft-Interop-Version: 6\r\n\(fields)\r\n".utf8)
  }

  /// Sends the first `limit` bytes, and returns the upload's URL, which came in a 104 response before these bytes were sent.
  private func begin(sending limit: UInt64) -> String? {
    let fields = "Content-Type: application/octet-stream\r\nContent-Length: \(Self.size)\r\nUpload-Complete: ?1\r\n"
    guard let connection = DemoConnection(to: address), connection.send(request("POST /upload", fields)),
      let head = connection.readHead()
    else { return nil }
    print("  \(head.statusLine)  with the upload's URL  -> hung up after \(limit) bytes")
    guard head.status == 104, send(0..<limit, on: connection) else { return nil }
    return head["location"]
  }

  private func ask(_ location: String) -> UInt64? {
    guard let connection = DemoConnection(to: address),
      connection.send(request("HEAD \(path(of: location))", "")), let head = connection.readHead()
    else { return nil }
    return UInt64(head["upload-offset"])
  }

  private func finish(_ location: String, from offset: UInt64) -> DemoConnection.Head? {
    let fields =
      "Content-Type: application/partial-upload\r\nContent-Length: \(Self.size - offset)\r\n"
      + "Upload-Offset: \(offset)\r\nUpload-Complete: ?1\r\n"
    guard let connection = DemoConnection(to: address),
      connection.send(request("PATCH \(path(of: location))", fields)), send(offset..<Self.size, on: connection)
    else { return nil }
    while let head = connection.readHead() { if head.status >= 200 { return head } }
    return nil
  }

  private func send(_ range: Range<UInt64>, on connection: DemoConnection) -> Bool {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 256 << 10) {
      let end = min(range.upperBound, start + 256 << 10)
      guard connection.send(LegacyOrigin.content(start..<end)) else { return false }
    }
    return true
  }
}
