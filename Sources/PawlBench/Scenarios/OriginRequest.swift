/// The parts of a request head that the test origin needs.
struct OriginRequest: Hashable {
  enum Method: Hashable { case get, head, other }

  var method = Method.get
  var target = 0..<0
  var length: UInt64 = 0
  var isChunked = false
  var expectsContinue = false
  var closes = false

  /// Parses a complete head; `nil` if it is not valid.
  init?(_ bytes: Span<UInt8>) {
    guard let feed = AnswerHead.lineFeed(bytes, 0) else { return nil }
    var at = 0
    while at < feed, bytes[at] != 0x20 { at += 1 }
    let methodEnd = at
    at += 1
    let start = at
    while at < feed, bytes[at] != 0x20 { at += 1 }
    guard methodEnd > 0, at > start, bytes.begins(with: "http/1.", at: at + 1), at + 8 < feed else { return nil }
    target = start..<at
    closes = bytes[at + 8] == 0x30
    method =
      methodEnd == 3 && bytes.begins(with: "get", at: 0)
      ? .get : methodEnd == 4 && bytes.begins(with: "head", at: 0) ? .head : .other
    readFields(bytes, from: feed + 1)
  }

  private mutating func readFields(_ bytes: Span<UInt8>, from first: Int) {
    var start = first
    while start < bytes.count, let feed = AnswerHead.lineFeed(bytes, start) {
      switch bytes[start] | 0x20 {
      case UInt8(ascii: "c"):
        if bytes.begins(with: "content-length:", at: start) {
          length = bytes.decimal(bytes.trimmed(start + 15, feed - 1)) ?? 0
        } else if bytes.begins(with: "connection: close", at: start) {
          closes = true
        }
      case UInt8(ascii: "t"): if bytes.begins(with: "transfer-encoding: chunked", at: start) { isChunked = true }
      case UInt8(ascii: "e"): if bytes.begins(with: "expect: 100-continue", at: start) { expectsContinue = true }
      default: break
      }
      start = feed + 1
    }
  }
}
