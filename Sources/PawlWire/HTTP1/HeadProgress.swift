/// How far a head has been parsed, so that a head that arrives in a thousand pieces is not parsed a thousand times.
struct HeadProgress: Sendable {
  private(set) var isUnderway = false
  /// Where the head starts in the caller's buffer.
  private(set) var headStart = 0
  /// The first byte that was not parsed yet: the start of a line.
  var lineStart = 0
  var hasStartLine = false
  var fieldCount = 0
  private var searched = 0

  mutating func begin(at start: Int) {
    (isUnderway, headStart, lineStart, searched) = (true, start, start, start)
    (hasStartLine, fieldCount) = (false, 0)
  }

  mutating func finish() { isUnderway = false }

  func continues(at start: Int) -> Bool { isUnderway && headStart == start }

  /// Whether a line end, or a byte that no line may hold, has arrived since the last call. Until then an unfinished line need not
  /// be parsed again.
  mutating func hasNews(_ bytes: Span<UInt8>) -> Bool {
    let news = bytes.firstControl(from: max(searched, lineStart), to: bytes.count) < bytes.count
    searched = bytes.count
    // The byte after a carriage return decides whether the line ends, so the carriage return is examined again.
    if searched > lineStart, bytes[searched - 1] == Byte.carriageReturn { searched -= 1 }
    return news
  }
}
