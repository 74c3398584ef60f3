package import PawlHTTP

/// Parses request heads in a read buffer (RFC 9112 §2, §3, §5, §6). Strict: a head that two parsers could read in two ways is
/// refused. The parser copies nothing, and allocates nothing after its line table has grown. Its ranges point into the given
/// buffer and are valid until the next call.
package struct RequestParser: Sendable {
  /// The methods that the hot path distinguishes.
  package enum PlainMethod: Sendable { case get, head, other }

  let limits: HeadLimits
  /// Whether the client speaks TLS; an absolute target with the other scheme is refused. It may be changed between two
  /// connections.
  package var isSecure: Bool
  let names = KnownFieldNames.shared
  var progress = HeadProgress()
  var emptyLines = 0
  var target = TargetForm.origin
  var firstField = 0, headEnd = 0
  var seen = FramingFields()

  /// The field lines in order, without those whose name has an underscore (Hygiene, "underscore aliases").
  package internal(set) var lines: [FieldLine] = []
  package internal(set) var methodRange = 0..<0
  /// Path and query. See ``targetNeedsRewriting``.
  package internal(set) var targetRange = 0..<0
  /// Host and port as sent, in the target or else in `Host`, without the colon of an empty port; empty when an HTTP/1.0 request
  /// has neither.
  package internal(set) var authorityRange = 0..<0
  /// Whether the authority has no capital letter, so that its bytes identify the site without changes.
  package internal(set) var authorityIsLowercase = true
  /// 1.0 or 1.1; 1.2 to 1.9 are treated as 1.1.
  package internal(set) var version = HTTPVersion.http11
  package internal(set) var framing = BodyFraming.none
  package internal(set) var method = PlainMethod.other
  /// Whether the client keeps the connection open for further requests (RFC 9112 §9.3).
  package internal(set) var keepsAlive = true
  private(set) var present = FieldNameSet()

  package init(limits: HeadLimits = HeadLimits(), isSecure: Bool = false) {
    (self.limits, self.isSecure) = (limits, isSecure)
  }

  package var isGet: Bool { method == .get }
  package var isHead: Bool { method == .head }
  /// `Expect: 100-continue` in HTTP/1.1: the client waits before it sends the body (RFC 9110 §10.1.1).
  package var expectsContinue: Bool { seen.hasExpect && version.minor != 0 }

  /// Whether the target of ``makeHead(_:)`` differs from the bytes of ``targetRange``: an absolute target without a path
  /// (RFC 9112 §3.2.4).
  package var targetNeedsRewriting: Bool { target.needsRewriting }

  /// The range of the value of the first line with this name.
  package func first(_ name: FieldName) -> Range<Int>? {
    guard contains(name) else { return nil }
    // Compares raw values: `==` of an enum of another module is a call through a witness table.
    let wanted = name.rawValue
    for line in lines where line.name.rawValue == wanted { return line.valueRange }
    return nil
  }

  /// The range of the value of the first line with this name, which may be unknown to pawl.
  /// - Parameter buffer: the bytes that were parsed.
  package func first(named name: String, in buffer: [UInt8]) -> Range<Int>? {
    lines.first { buffer[$0.nameRange].equalsIgnoringCase(name.utf8) }?.valueRange
  }

  /// The length of the last parsed head, in bytes; of trailing spaces in its last line none are counted.
  package var headLength: Int {
    let end = lines.last.map { $0.valueRange.upperBound + 2 } ?? targetRange.upperBound + " HTTP/1.1\r\n".utf8.count
    return end + 2 - methodRange.lowerBound
  }

  package func contains(_ name: FieldName) -> Bool { present.contains(name) }

  /// Forgets an incomplete head, because the next bytes belong to another connection.
  package mutating func reset() { progress.finish() }

  /// Parses the head at the start of `buffer[range]`. After ``RequestParse/needMore`` the caller calls again with the same start
  /// and more bytes; complete lines are not parsed again. After any other result the next call begins a new head.
  package mutating func parse(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> RequestParse {
    let end = min(range.upperBound, range.lowerBound + limits.maxHead)
    let bytes = buffer.span.extracting(0..<end)
    if !progress.continues(at: range.lowerBound) {
      begin(at: range.lowerBound)
    } else if !progress.hasNews(bytes), end == range.upperBound, end - progress.headStart < limits.maxHead,
      progress.hasStartLine || end - progress.lineStart < limits.maxRequestLine + 2
    {
      return .needMore
    }
    do throws(RequestRefusal) {
      guard try advance(bytes) else {
        guard end - progress.headStart < limits.maxHead else { throw headTooLarge }
        _ = progress.hasNews(bytes)
        return .needMore
      }
      try conclude(bytes)
    } catch {
      progress.finish()
      return .refused(error)
    }
    progress.finish()
    return .head(byteCount: headEnd - progress.headStart)
  }

  private var headTooLarge: RequestRefusal {
    progress.hasStartLine
      ? RequestRefusal(431, "The header section is too large.") : RequestRefusal(414, "The request line is too long.")
  }

  private mutating func begin(at start: Int) {
    progress.begin(at: start)
    lines.removeAll(keepingCapacity: true)
    (emptyLines, present, seen) = (0, FieldNameSet(), FramingFields())
    (authorityRange, framing) = (start..<start, .none)
  }

  /// Parses all complete lines; `false` when the head needs more bytes.
  private mutating func advance(_ bytes: Span<UInt8>) throws(RequestRefusal) -> Bool {
    if !progress.hasStartLine {
      guard let next = try takeRequestLine(bytes) else { return false }
      (progress.lineStart, progress.hasStartLine, firstField) = (next, true, next)
    }
    while true {
      let start = progress.lineStart
      guard start < bytes.count else { return false }
      if bytes[start] == Byte.carriageReturn {
        guard start + 1 < bytes.count else { return false }
        guard bytes[start + 1] == Byte.lineFeed else { throw Self.bareCarriageReturn }
        headEnd = start + 2
        return true
      }
      guard try takeField(bytes, from: start) else { return false }
    }
  }

  /// Parses one field line with its line end; `false` when it is incomplete.
  private mutating func takeField(_ bytes: Span<UInt8>, from start: Int) throws(RequestRefusal) -> Bool {
    let end = bytes.count
    let plainEnd = bytes.endOfPlainName(from: start, to: end)
    let nameEnd = bytes.firstOutside(.token, from: plainEnd, to: end)
    guard nameEnd < end else { return false }
    guard bytes[nameEnd] == Byte.colon, nameEnd > start else {
      throw Self.misformedName(bytes[nameEnd], isEmpty: nameEnd == start)
    }
    let valueStart = bytes.firstNonBlank(from: nameEnd + 1, to: end)
    let lineEnd = bytes.firstControl(from: valueStart, to: end)
    guard lineEnd < end else { return false }
    guard bytes[lineEnd] == Byte.carriageReturn else {
      throw bytes[lineEnd] == Byte.lineFeed ? Self.bareLineFeed : Self.controlCharacter
    }
    guard lineEnd + 1 < end else { return false }
    guard bytes[lineEnd + 1] == Byte.lineFeed else { throw Self.bareCarriageReturn }
    progress.lineStart = lineEnd + 2
    progress.fieldCount += 1
    guard progress.fieldCount <= limits.maxFields else { throw RequestRefusal(431, "There are too many field lines.") }

    let valueEnd = bytes.withoutTrailingBlanks(from: valueStart, to: lineEnd)
    let name = names.find(bytes, start..<nameEnd)
    switch name {
    case .other: guard bytes.first(0x5f, from: plainEnd, to: nameEnd) == nil else { return true }
    default: present.insert(name)
    }
    seen.note(name, valueStart..<valueEnd)
    lines.append(FieldLine(name: name, nameRange: start..<nameEnd, valueRange: valueStart..<valueEnd))
    return true
  }

  static var bareCarriageReturn: RequestRefusal { RequestRefusal(400, "A carriage return stands alone.") }
  static var bareLineFeed: RequestRefusal { RequestRefusal(400, "A line ends without a carriage return.") }
  static var controlCharacter: RequestRefusal { RequestRefusal(400, "A field value holds a control character.") }

  private static func misformedName(_ byte: UInt8, isEmpty: Bool) -> RequestRefusal {
    switch byte {
    case Byte.space where isEmpty, Byte.tab where isEmpty:
      RequestRefusal(400, "A field line starts with white space.")
    case Byte.space, Byte.tab: RequestRefusal(400, "White space stands before the colon of a field line.")
    case Byte.colon: RequestRefusal(400, "A field name is empty.")
    case Byte.lineFeed: bareLineFeed
    case Byte.carriageReturn: RequestRefusal(400, "A field line has no colon.")
    default: RequestRefusal(400, "A field name holds a character that no name may hold.")
    }
  }
}
