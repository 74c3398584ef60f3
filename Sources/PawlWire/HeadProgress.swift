/// How far a head has been read, so that a head that comes in a thousand pieces is not read a thousand times.
struct HeadProgress: Sendable {
  private(set) var isUnderway = false
  /// Where the head starts in the caller's buffer.
  private(set) var headStart = 0
  /// The first octet that is not understood yet: the start of a line.
  var lineStart = 0
  var hasStartLine = false
  var fieldCount = 0
  /// No line ends in `lineStart..<searched`.
  private var searched = 0

  mutating func begin(at start: Int) {
    (isUnderway, headStart, lineStart, searched) = (true, start, start, start)
    (hasStartLine, fieldCount) = (false, 0)
  }

  mutating func finish() { isUnderway = false }

  func continues(at start: Int) -> Bool { isUnderway && headStart == start }

  /// Whether a line has been completed since the last look.
  mutating func hasNewLineEnd(_ octets: Span<UInt8>) -> Bool {
    let from = max(searched, lineStart)
    searched = octets.count
    return octets.first(Octet.lineFeed, from: from, to: octets.count) != nil
  }
}
