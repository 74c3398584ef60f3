package import PawlHTTP

/// The result of parsing the bytes at the start of a response.
package enum ResponseParse: Sendable {
  case needMore
  case head(ResponseHead, byteCount: Int)
  case refused(ProxyError)
}

/// Parses response heads (RFC 9112 §4, §5). As strict as ``RequestParser`` where two readings are possible, but lenient where the
/// RFC lets a proxy repair a response: blanks before a colon are removed, folded lines are joined, and a bare LF ends a line. Old
/// origins send such heads, and pawl writes every head anew.
package struct ResponseParser: Sendable {
  private let limits: HeadLimits
  private let names = KnownFieldNames.shared
  private var progress = HeadProgress()
  private var lines: [FieldLine] = []
  /// The line ends and blanks of folded lines, which are overwritten with spaces.
  private var folds: [Range<Int>] = []
  private var (status, reason, version) = (0, 0..<0, HTTPVersion.http11)
  private var firstField = 0

  package init(limits: HeadLimits = HeadLimits()) { self.limits = limits }

  /// Forgets an incomplete head.
  package mutating func reset() { progress.finish() }

  /// Parses like ``RequestParser/parse(_:_:)``. The returned head has its own copy of the bytes.
  package mutating func parse(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> ResponseParse {
    let end = min(range.upperBound, range.lowerBound + limits.maxHead)
    let bytes = buffer.span.extracting(0..<end)
    if !progress.continues(at: range.lowerBound) {
      progress.begin(at: range.lowerBound)
      lines.removeAll(keepingCapacity: true)
      folds.removeAll(keepingCapacity: true)
    }
    let found: Int?
    do {
      found = try advance(bytes)
    } catch {
      progress.finish()
      return .refused(error)
    }
    guard let headEnd = found else {
      guard end - range.lowerBound < limits.maxHead else {
        progress.finish()
        return .refused(Self.tooLarge)
      }
      return .needMore
    }
    progress.finish()
    return .head(makeHead(bytes, headEnd), byteCount: headEnd - range.lowerBound)
  }

  private mutating func advance(_ bytes: Span<UInt8>) throws(ProxyError) -> Int? {
    if !progress.hasStartLine {
      guard try isStatusLineSoFar(bytes) else { return nil }
    }
    guard progress.hasNews(bytes) else { return nil }
    if !progress.hasStartLine {
      guard let lineEnd = bytes.first(Byte.lineFeed, from: progress.lineStart, to: bytes.count) else { return nil }
      try takeStatusLine(bytes, to: bytes.withoutReturn(from: progress.lineStart, to: lineEnd))
      (progress.lineStart, progress.hasStartLine, firstField) = (lineEnd + 1, true, lineEnd + 1)
    }
    while true {
      if try takePlainField(bytes) { continue }
      guard let lineEnd = bytes.first(Byte.lineFeed, from: progress.lineStart, to: bytes.count) else { return nil }
      let start = progress.lineStart
      let end = bytes.withoutReturn(from: start, to: lineEnd)
      if start == end { return lineEnd + 1 }
      if Byte.isBlank(bytes[start]) {
        try takeFold(bytes, start, end)
      } else {
        try takeField(bytes, start, end)
      }
      progress.lineStart = lineEnd + 1
    }
  }

  /// Parses one field line of the usual form: a name, a colon, a value without controls, CRLF. `false` when the line has another
  /// form or is incomplete; nothing was consumed then.
  private mutating func takePlainField(_ bytes: Span<UInt8>) throws(ProxyError) -> Bool {
    let (start, end) = (progress.lineStart, bytes.count)
    let nameEnd = bytes.firstOutside(.token, from: bytes.endOfPlainName(from: start, to: end), to: end)
    guard nameEnd > start, nameEnd < end, bytes[nameEnd] == Byte.colon else { return false }
    let first = bytes.firstNonBlank(from: nameEnd + 1, to: end)
    let lineEnd = bytes.firstControl(from: first, to: end)
    guard lineEnd + 1 < end, bytes[lineEnd] == Byte.carriageReturn, bytes[lineEnd + 1] == Byte.lineFeed else {
      return false
    }
    progress.fieldCount += 1
    guard progress.fieldCount <= limits.maxFields else { throw Self.tooLarge }
    let name = names.find(bytes, start..<nameEnd)
    let value = first..<bytes.withoutTrailingBlanks(from: first, to: lineEnd)
    lines.append(FieldLine(name: name, nameRange: start..<nameEnd, valueRange: value))
    progress.lineStart = lineEnd + 2
    return true
  }

  /// Whether the start of the status line, `HTTP/1.`, is complete. Refuses a wrong start at once, because a server of another
  /// protocol may never send a line end.
  private func isStatusLineSoFar(_ bytes: Span<UInt8>) throws(ProxyError) -> Bool {
    let start = progress.lineStart
    let count = min(7, bytes.count - start)
    for offset in 0..<count {
      // Safe: the literal has seven bytes.
      guard bytes[start + offset] == ("HTTP/1." as StaticString).utf8Start[offset] else {
        throw Self.malformed("The origin's answer does not start with an HTTP/1 status line.")
      }
    }
    return count == 7
  }

  /// Parses `HTTP/1.` DIGIT SP 3DIGIT [ SP reason ]; some origins omit the last space together with the reason.
  private mutating func takeStatusLine(_ bytes: Span<UInt8>, to end: Int) throws(ProxyError) {
    let misformed = Self.malformed("The origin's status line is malformed.")
    let start = progress.lineStart
    guard end - start >= 12, Byte.isDigit(bytes[start + 7]), bytes[start + 8] == Byte.space else { throw misformed }
    version = bytes[start + 7] == 0x30 ? .http10 : .http11
    guard bytes.endOfDigits(from: start + 9, to: end) == start + 12 else { throw misformed }
    status = (9..<12).reduce(0) { $0 * 10 + Int(bytes[start + $1] - 0x30) }
    guard status >= 100 else { throw misformed }
    guard end > start + 12 else { return reason = end..<end }
    guard bytes[start + 12] == Byte.space, bytes.firstControl(from: start + 13, to: end) == end else {
      throw misformed
    }
    reason = start + 13..<bytes.withoutTrailingBlanks(from: start + 13, to: end)
  }

  private mutating func takeField(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(ProxyError) {
    progress.fieldCount += 1
    guard progress.fieldCount <= limits.maxFields else { throw Self.tooLarge }
    let nameEnd = bytes.firstOutside(.token, from: bytes.endOfPlainName(from: start, to: end), to: end)
    let colon = bytes.firstNonBlank(from: nameEnd, to: end)
    guard nameEnd > start, colon < end, bytes[colon] == Byte.colon else {
      throw Self.malformed("A field line of the origin's answer has no proper name.")
    }
    let value = try takeValue(bytes, colon + 1, end)
    let name = names.find(bytes, start..<nameEnd)
    lines.append(FieldLine(name: name, nameRange: start..<nameEnd, valueRange: value))
  }

  /// Joins a folded line to its field: the fold becomes spaces (RFC 9112 §5.2).
  private mutating func takeFold(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(ProxyError) {
    guard let last = lines.popLast() else {
      throw Self.malformed("White space stands between the origin's status line and its fields.")
    }
    let more = try takeValue(bytes, start, end)
    var value = last.valueRange
    if value.isEmpty {
      value = more
    } else if !more.isEmpty {
      folds.append(value.upperBound..<more.lowerBound)
      value = value.lowerBound..<more.upperBound
    }
    lines.append(FieldLine(name: last.name, nameRange: last.nameRange, valueRange: value))
  }

  private func takeValue(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(ProxyError) -> Range<Int> {
    guard bytes.firstControl(from: start, to: end) == end else {
      throw Self.malformed("A field of the origin's answer holds a control character.")
    }
    let first = bytes.firstNonBlank(from: start, to: end)
    return first..<bytes.withoutTrailingBlanks(from: first, to: end)
  }

  private func makeHead(_ bytes: Span<UInt8>, _ headEnd: Int) -> ResponseHead {
    let start = reason.lowerBound
    var storage = bytes.copied(start..<headEnd)
    for fold in folds {
      for at in fold { storage[at - start] = Byte.space }
    }
    return ResponseHead(
      status: status, reason: storage[..<reason.count], version: version,
      fields: Fields(storage: storage, lines: lines.moved(by: -start)))
  }

  private static var tooLarge: ProxyError {
    ProxyError(.httpResponseHeaderSectionSize, details: "The header section of the origin's answer is too large.")
  }

  private static func malformed(_ details: String) -> ProxyError { ProxyError(.httpProtocolError, details: details) }
}

extension Span<UInt8> {
  /// The end of the line without its carriage return; `lineFeed` is the index of its line feed.
  func withoutReturn(from start: Int, to lineFeed: Int) -> Int {
    lineFeed > start && self[lineFeed - 1] == Byte.carriageReturn ? lineFeed - 1 : lineFeed
  }

  func copied(_ range: Range<Int>) -> [UInt8] {
    extracting(range).withUnsafeBufferPointer { Array($0) }
  }
}
