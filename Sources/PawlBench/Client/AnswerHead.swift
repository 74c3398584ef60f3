import CLinux

/// The parsed head of a response, with the fields that every scenario needs. A scenario that needs another field searches for it
/// in the bytes of the head.
struct AnswerHead: Hashable {
  /// `Content-Range: bytes first-last/total`.
  struct ContentRange: Hashable {
    var first: UInt64
    var last: UInt64
    /// The length of the complete body; `nil` if the server sent `*`.
    var total: UInt64?
  }

  var status = 0
  var length: UInt64?
  var isChunked = false
  /// Whether the server closes the connection after this response.
  var closes = false
  var contentRange: ContentRange?

  enum Parse: Hashable {
    /// The head is not complete.
    case needMore
    /// A head of `count` bytes, its empty line included.
    case head(AnswerHead, count: Int)
    /// The bytes are no valid head, or its fields contradict each other.
    case malformed
  }

  /// Parses the head at the start of `bytes`, in one pass up to its empty line.
  static func parse(_ bytes: Span<UInt8>) -> Parse {
    guard let first = lineFeed(bytes, 0) else { return .needMore }
    var head = AnswerHead()
    guard head.readStatus(bytes, first) else { return .malformed }
    var start = first + 1
    while let feed = lineFeed(bytes, start) {
      let end = feed > start && bytes[feed - 1] == 0x0d ? feed - 1 : feed
      if end == start { return .head(head, count: feed + 1) }
      let letter = bytes[start] | 0x20
      if letter == UInt8(ascii: "c") || letter == UInt8(ascii: "t") {
        guard head.readField(bytes, start, end) else { return .malformed }
      }
      start = feed + 1
    }
    return .needMore
  }

  /// Returns the length of a head, its empty line included; `nil` if the end of the head is not in `bytes`.
  static func end(in bytes: Span<UInt8>) -> Int? {
    var at = 0
    while let feed = lineFeed(bytes, at) {
      // An empty line: LF after LF, or CR LF after LF.
      let next = feed + 1
      if next < bytes.count, bytes[next] == 0x0a { return next + 1 }
      if next + 1 < bytes.count, bytes[next] == 0x0d, bytes[next + 1] == 0x0a { return next + 2 }
      at = next
    }
    return nil
  }

  private mutating func readStatus(_ bytes: Span<UInt8>, _ end: Int) -> Bool {
    guard end >= 12, bytes.begins(with: "HTTP/", at: 0), bytes[8] == 0x20 else {
      // The status line of an HTTP/2 response is shorter. ``HTTP2Connection`` writes it.
      guard end >= 10, bytes.begins(with: "HTTP/2 ", at: 0) else { return false }
      return readStatus(bytes, at: 7)
    }
    // A server with HTTP/1.0 closes the connection unless the response says otherwise.
    closes = bytes[7] == UInt8(ascii: "0")
    return readStatus(bytes, at: 9)
  }

  private mutating func readStatus(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    status = 0
    for at in start..<start + 3 {
      let digit = bytes[at] &- 0x30
      guard digit <= 9 else { return false }
      status = status * 10 + Int(digit)
    }
    return status >= 100
  }

  /// Reads one field line. Returns `false` if the field makes the framing invalid.
  private mutating func readField(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    // The position of the colon excludes most names before a letter is compared.
    func hasColon(_ offset: Int) -> Bool { start + offset < end && bytes[start + offset] == 0x3a }
    if hasColon(14), bytes.begins(with: "content-length:", at: start) {
      let value = bytes.trimmed(start + 15, end)
      guard let count = bytes.decimal(value), length ?? count == count else { return false }
      length = count
    } else if hasColon(17), bytes.begins(with: "transfer-encoding:", at: start) {
      let value = bytes.trimmed(start + 18, end)
      guard value.count == 7, bytes.begins(with: "chunked", at: value.lowerBound) else { return false }
      isChunked = true
    } else if hasColon(10), bytes.begins(with: "connection:", at: start) {
      let value = bytes.trimmed(start + 11, end)
      if value.count == 5, bytes.begins(with: "close", at: value.lowerBound) { closes = true }
      if value.count == 10, bytes.begins(with: "keep-alive", at: value.lowerBound) { closes = false }
    } else if hasColon(13), bytes.begins(with: "content-range:", at: start) {
      contentRange = Self.contentRange(bytes, bytes.trimmed(start + 14, end))
    }
    return true
  }

  /// Parses a value such as `bytes 0-99/1000`; `nil` for anything else.
  static func contentRange(_ bytes: Span<UInt8>, _ value: Range<Int>) -> ContentRange? {
    guard value.count > 6, bytes.begins(with: "bytes ", at: value.lowerBound) else { return nil }
    var at = value.lowerBound + 6
    guard let first = bytes.number(&at, value.upperBound), at < value.upperBound, bytes[at] == UInt8(ascii: "-")
    else { return nil }
    at += 1
    guard let last = bytes.number(&at, value.upperBound), at < value.upperBound, bytes[at] == UInt8(ascii: "/"),
      first <= last
    else { return nil }
    at += 1
    if at + 1 == value.upperBound, bytes[at] == UInt8(ascii: "*") {
      return ContentRange(first: first, last: last, total: nil)
    }
    guard let total = bytes.number(&at, value.upperBound), at == value.upperBound, last < total else { return nil }
    return ContentRange(first: first, last: last, total: total)
  }

  /// Returns the range of the value of the first field with this name. `name` is in lower case, without its colon.
  static func field(_ name: StaticString, in bytes: Span<UInt8>) -> Range<Int>? {
    guard var start = lineFeed(bytes, 0).map({ $0 + 1 }) else { return nil }
    let count = name.utf8CodeUnitCount
    while let feed = lineFeed(bytes, start) {
      let end = feed > start && bytes[feed - 1] == 0x0d ? feed - 1 : feed
      if start + count < end, bytes[start + count] == 0x3a, bytes.begins(with: name, at: start) {
        return bytes.trimmed(start + count + 1, end)
      }
      start = feed + 1
    }
    return nil
  }

  static func text(_ name: StaticString, in bytes: Span<UInt8>) -> String? {
    guard let value = field(name, in: bytes) else { return nil }
    var text: [UInt8] = []
    for at in value { text.append(bytes[at]) }
    return String(decoding: text, as: UTF8.self)
  }

  static func lineFeed(_ bytes: Span<UInt8>, _ start: Int) -> Int? {
    guard start < bytes.count else { return nil }
    return bytes.withUnsafeBufferPointer { buffer in
      // Safe: `buffer` has `buffer.count - start` bytes from `start` on.
      guard let base = buffer.baseAddress, let found = memchr(base + start, 0x0a, buffer.count - start) else {
        return nil
      }
      return UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
    }
  }
}

extension Span<UInt8> {
  /// Whether the text at `start` equals a lower-case literal, without regard to case.
  @inline(__always) func begins(with literal: StaticString, at start: Int) -> Bool {
    let count = literal.utf8CodeUnitCount
    guard start + count <= self.count else { return false }
    for index in 0..<count {
      let byte = self[start + index]
      // Safe: the index is below the literal's count.
      let wanted = literal.utf8Start[index]
      guard byte == wanted || (wanted &- 0x61 <= 25 && byte == wanted ^ 0x20) else { return false }
    }
    return true
  }

  func trimmed(_ start: Int, _ end: Int) -> Range<Int> {
    var (start, end) = (start, end)
    while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
    while start < end, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
    return start..<end
  }

  /// Reads the number in `range`; `nil` if the range is not 1 to 18 digits.
  func decimal(_ range: Range<Int>) -> UInt64? {
    var at = range.lowerBound
    guard let value = number(&at, range.upperBound), at == range.upperBound else { return nil }
    return value
  }

  /// Reads the digits from `at` on, and moves `at` to the byte after them.
  func number(_ at: inout Int, _ end: Int) -> UInt64? {
    let start = at
    var value: UInt64 = 0
    while at < end, self[at] &- 0x30 <= 9 {
      guard at &- start < 18 else { return nil }
      value = value * 10 + UInt64(self[at] &- 0x30)
      at += 1
    }
    return at > start ? value : nil
  }
}
