/// A request's head, as far as the test origin looks at it.
struct OriginRequest: Hashable {
  enum Method: Hashable { case get, head, other }

  var method = Method.get
  var target = 0..<0
  var length: UInt64 = 0
  var isChunked = false
  var expectsContinue = false
  var closes = false

  /// Reads a whole head; `nil` when it is none.
  init?(_ octets: Span<UInt8>) {
    guard let feed = AnswerHead.lineFeed(octets, 0) else { return nil }
    var at = 0
    while at < feed, octets[at] != 0x20 { at += 1 }
    let methodEnd = at
    at += 1
    let start = at
    while at < feed, octets[at] != 0x20 { at += 1 }
    guard methodEnd > 0, at > start, octets.begins(with: "http/1.", at: at + 1), at + 8 < feed else { return nil }
    target = start..<at
    closes = octets[at + 8] == 0x30
    method =
      methodEnd == 3 && octets.begins(with: "get", at: 0)
      ? .get : methodEnd == 4 && octets.begins(with: "head", at: 0) ? .head : .other
    readFields(octets, from: feed + 1)
  }

  private mutating func readFields(_ octets: Span<UInt8>, from first: Int) {
    var start = first
    while start < octets.count, let feed = AnswerHead.lineFeed(octets, start) {
      switch octets[start] | 0x20 {
      case UInt8(ascii: "c"):
        if octets.begins(with: "content-length:", at: start) {
          length = octets.decimal(octets.trimmed(start + 15, feed - 1)) ?? 0
        } else if octets.begins(with: "connection: close", at: start) {
          closes = true
        }
      case UInt8(ascii: "t"): if octets.begins(with: "transfer-encoding: chunked", at: start) { isChunked = true }
      case UInt8(ascii: "e"): if octets.begins(with: "expect: 100-continue", at: start) { expectsContinue = true }
      default: break
      }
      start = feed + 1
    }
  }
}
