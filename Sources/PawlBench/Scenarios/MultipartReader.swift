/// Parses a `multipart/byteranges` response (RFC 9110 §14.6) as it comes. Copies the lines around the parts, but not the parts.
struct MultipartReader {
  enum Step: Hashable {
    /// All bytes were parsed.
    case more
    /// A part begins.
    case part(AnswerHead.ContentRange)
    /// `count` bytes from `start` on are the bytes at `offset` of the complete body.
    case content(start: Int, count: Int, offset: UInt64)
    case malformed
  }

  private enum State: Hashable { case delimiter, head, content, epilogue }
  private var state = State.delimiter
  private var boundary: [UInt8] = []
  private var line: [UInt8] = []
  private var range: AnswerHead.ContentRange?
  private var offset: UInt64 = 0
  /// Whether a part has begun. `owesLineEnd`: whether the line end that follows each part is still missing (RFC 2046 §5.1.1).
  private var hasParts = false
  private var owesLineEnd = false

  /// Whether the closing delimiter has come.
  var isEnded: Bool { state == .epilogue }

  init() {
    boundary.reserveCapacity(128)
    line.reserveCapacity(256)
  }

  /// Begins a new response. Returns `false` if `Content-Type` is not `multipart/byteranges` with a boundary.
  mutating func begin(_ bytes: Span<UInt8>) -> Bool {
    (state, hasParts, owesLineEnd, range) = (.delimiter, false, false, nil)
    line.removeAll(keepingCapacity: true)
    boundary.removeAll(keepingCapacity: true)
    guard let value = AnswerHead.field("content-type", in: bytes),
      bytes.begins(with: "multipart/byteranges", at: value.lowerBound)
    else { return false }
    var at = value.lowerBound
    while at < value.upperBound, !bytes.begins(with: "boundary=", at: at) { at += 1 }
    at += 9
    guard at < value.upperBound else { return false }
    let isQuoted = bytes[at] == 0x22
    if isQuoted { at += 1 }
    while at < value.upperBound, isQuoted ? bytes[at] != 0x22 : bytes[at] != 0x3b && bytes[at] != 0x20 {
      boundary.append(bytes[at])
      at += 1
    }
    return !boundary.isEmpty && boundary.count <= 70
  }

  /// Returns the next piece of `bytes` from `at` on, and moves `at` to the byte after that piece.
  mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Step {
    while at < bytes.count {
      switch state {
      case .epilogue: at = bytes.count
      case .content:
        guard let range else { return .malformed }
        let count = Int(min(range.last + 1 - offset, UInt64(bytes.count - at)))
        let step = Step.content(start: at, count: count, offset: offset)
        (at, offset) = (at + count, offset + UInt64(count))
        if offset > range.last { (state, owesLineEnd) = (.delimiter, true) }
        return step
      case .delimiter, .head:
        let byte = bytes[at]
        at += 1
        guard byte == 0x0a else {
          guard line.count < 1024 else { return .malformed }
          line.append(byte)
          continue
        }
        if line.last == 0x0d { line.removeLast() }
        if let step = takeLine() { return step }
      }
    }
    return .more
  }

  private mutating func takeLine() -> Step? {
    defer { line.removeAll(keepingCapacity: true) }
    if state == .head { return takeHeadLine() }
    if line.isEmpty {
      // Before the first delimiter an empty line is allowed; after a part exactly one is required.
      guard !hasParts || owesLineEnd else { return .malformed }
      owesLineEnd = false
      return nil
    }
    guard !owesLineEnd, line.count >= 2 + boundary.count, line[0] == 0x2d, line[1] == 0x2d,
      line[2..<2 + boundary.count].elementsEqual(boundary)
    else { return .malformed }
    var rest = line[(2 + boundary.count)...]
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    if rest.isEmpty {
      (state, range) = (.head, nil)
      return nil
    }
    guard rest.count == 2, rest.first == 0x2d, rest.last == 0x2d else { return .malformed }
    state = .epilogue
    return nil
  }

  private mutating func takeHeadLine() -> Step? {
    guard line.isEmpty else {
      let text = line
      let bytes = text.span
      guard bytes.begins(with: "content-range:", at: 0) else { return nil }
      guard range == nil, let value = AnswerHead.contentRange(bytes, bytes.trimmed(14, bytes.count)) else {
        return .malformed
      }
      range = value
      return nil
    }
    guard let range else { return .malformed }
    (state, offset, hasParts) = (.content, range.first, true)
    return .part(range)
  }

  /// Ends the response. The closing delimiter may come without a line end. Returns `false` if the delimiter is missing.
  mutating func finish() -> Bool {
    if state == .delimiter, !line.isEmpty { _ = takeLine() }
    return isEnded
  }
}
