/// How far a head has been read, so that a head that comes in a thousand pieces is not read a thousand times.
struct HeadProgress: Sendable {
  private(set) var isUnderway = false
  /// Where the head starts in the caller's buffer.
  private(set) var headStart = 0
  /// The first byte that is not understood yet: the start of a line.
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

  /// Whether a line end, or anything else that no line may hold, has come in since the last look. Until then an
  /// unfinished line needs no second reading.
  mutating func hasNews(_ bytes: Span<UInt8>) -> Bool {
    let news = bytes.firstControl(from: max(searched, lineStart), to: bytes.count) < bytes.count
    searched = bytes.count
    // What follows a carriage return tells whether it ends a line.
    if searched > lineStart, bytes[searched - 1] == Byte.carriageReturn { searched -= 1 }
    return news
  }
}
