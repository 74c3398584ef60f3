/// A request in the form of HTTP/1.1, made once and sent many times. Its last fields may be replaced between two uses. For
/// HTTP/2, names and values of the fields are taken from this text.
final class RequestText {
  struct Line {
    var name: Range<Int>
    var value: Range<Int>
  }

  /// The head; complete after ``finish()``.
  private(set) var bytes: [UInt8] = []
  private(set) var lines: [Line] = []
  private(set) var method = 0..<0
  private(set) var target = 0..<0
  private(set) var authority = 0..<0
  private var fixed = (bytes: 0, lines: 0)

  /// The range of the upload's content that follows the head.
  var content: Range<UInt64> = 0..<0
  /// Whether the method is HEAD, so that the response has no content.
  var isHead = false
  /// The offset in the upload at which sending stops and the script is called.
  var stop: UInt64?
  /// Whether the request may be sent again if a persistent connection turns out to be closed.
  var isRepeatable = true

  init(method: String, target: String, authority: String) {
    bytes.reserveCapacity(512)
    bytes += method.utf8
    self.method = 0..<bytes.count
    bytes.append(0x20)
    let start = bytes.count
    bytes += target.utf8
    self.target = start..<bytes.count
    bytes += " HTTP/1.1\r\nHost: ".utf8
    let host = bytes.count
    bytes += authority.utf8
    self.authority = host..<bytes.count
    bytes += "\r\n".utf8
    isHead = method == "HEAD"
    fix()
  }

  func append(_ name: String, _ value: String) {
    begin(name)
    bytes += value.utf8
    endLine()
  }

  /// Appends a field whose value `write` appends to ``bytes``.
  func append(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    beginValue(start)
    write(&bytes)
    endLine()
  }

  /// Marks the present end of the text. ``rewind()`` removes everything after this mark.
  func fix() { fixed = (bytes.count, lines.count) }

  func rewind() {
    bytes.removeLast(bytes.count - fixed.bytes)
    lines.removeLast(lines.count - fixed.lines)
  }

  func finish() {
    bytes.append(0x0d)
    bytes.append(0x0a)
  }

  private func begin(_ name: String) {
    let start = bytes.count
    bytes += name.utf8
    beginValue(start)
  }

  private func beginValue(_ start: Int) {
    let end = bytes.count
    bytes.append(0x3a)
    bytes.append(0x20)
    lines.append(Line(name: start..<end, value: bytes.count..<bytes.count))
  }

  private func endLine() {
    let last = lines.count - 1
    lines[last].value = lines[last].value.lowerBound..<bytes.count
    bytes.append(0x0d)
    bytes.append(0x0a)
  }
}
