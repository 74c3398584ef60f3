/// A request in the form of HTTP/1.1, made once and sent many times. Its end may be exchanged between two of them, and
/// HTTP/2 takes its field lines out of it.
final class RequestText {
  struct Line {
    var name: Range<Int>
    var value: Range<Int>
  }

  /// The head, once ``finish()`` was called.
  private(set) var bytes: [UInt8] = []
  private(set) var lines: [Line] = []
  private(set) var method = 0..<0
  private(set) var target = 0..<0
  private(set) var authority = 0..<0
  private var fixed = (bytes: 0, lines: 0)

  /// Bytes of the upload's content that follow the head.
  var content: Range<UInt64> = 0..<0
  /// Whether the answer has no content whatever it says.
  var isHead = false
  /// Where in the upload to stop sending; the script is told.
  var stop: UInt64?
  /// Whether it may be sent a second time when a kept connection turns out to be closed.
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

  /// A field whose value is written into ``bytes`` by `write`.
  func append(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    beginValue(start)
    write(&bytes)
    endLine()
  }

  /// What has been said until now stays; ``rewind()`` takes back the rest.
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
