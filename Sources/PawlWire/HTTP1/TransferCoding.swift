/// The meaning of a `Transfer-Encoding` value for the end of the message (RFC 9112 §6.1, §7).
enum TransferCoding: Hashable, Sendable {
  case chunked
  /// `chunked` is last, but another coding, which pawl cannot decode, comes before it.
  case otherThenChunked
  case notChunkedLast
  /// Not a list of tokens, or `chunked` more than once or not last.
  case malformed

  static func parse(_ bytes: Span<UInt8>, _ range: Range<Int>) -> TransferCoding {
    if bytes.equalsIgnoringCase(range, "chunked") { return .chunked }
    var (count, chunkedCount, lastIsChunked, isMalformed) = (0, 0, false, false)
    bytes.forEachElement(range) { element in
      let tokenEnd = bytes.firstOutside(.token, from: element.lowerBound, to: element.upperBound)
      if element.isEmpty || tokenEnd < element.upperBound { isMalformed = true }
      count += 1
      lastIsChunked = bytes.equalsIgnoringCase(element, "chunked")
      if lastIsChunked { chunkedCount += 1 }
    }
    if isMalformed || chunkedCount > 1 { return .malformed }
    if lastIsChunked { return count == 1 ? .chunked : .otherThenChunked }
    return chunkedCount == 0 ? .notChunkedLast : .malformed
  }
}

extension Span<UInt8> {
  /// Calls `body` with each element of a comma-separated list, including empty ones, without blanks around it.
  func forEachElement(_ range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while true {
      var end = start
      while end < range.upperBound, self[end] != Byte.comma { end += 1 }
      let first = firstNonBlank(from: start, to: end)
      body(first..<withoutTrailingBlanks(from: first, to: end))
      guard end < range.upperBound else { return }
      start = end + 1
    }
  }
}
