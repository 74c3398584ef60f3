/// A request in the form of HTTP/1.1, made once and sent many times. Its end may be exchanged between two of them, and
/// HTTP/2 takes its field lines out of it.
final class RequestText {
  struct Line {
    var name: Range<Int>
    var value: Range<Int>
  }

  /// The head, once ``finish()`` was called.
  private(set) var octets: [UInt8] = []
  private(set) var lines: [Line] = []
  private(set) var method = 0..<0
  private(set) var target = 0..<0
  private(set) var authority = 0..<0
  private var fixed = (octets: 0, lines: 0)

  /// Octets of the upload's content that follow the head.
  var content: Range<UInt64> = 0..<0
  /// Whether the answer has no content whatever it says.
  var isHead = false
  /// Where in the upload to stop sending; the script is told.
  var stop: UInt64?
  /// Whether it may be sent a second time when a kept connection turns out to be closed.
  var isRepeatable = true

  init(method: String, target: String, authority: String) {
    octets.reserveCapacity(512)
    octets += method.utf8
    self.method = 0..<octets.count
    octets.append(0x20)
    let start = octets.count
    octets += target.utf8
    self.target = start..<octets.count
    octets += " HTTP/1.1\r\nHost: ".utf8
    let host = octets.count
    octets += authority.utf8
    self.authority = host..<octets.count
    octets += "\r\n".utf8
    isHead = method == "HEAD"
    fix()
  }

  func append(_ name: String, _ value: String) {
    begin(name)
    octets += value.utf8
    endLine()
  }

  /// A field whose value is written into ``octets`` by `write`.
  func append(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
    let start = octets.count
    name.withUTF8Buffer { octets.append(contentsOf: $0) }
    beginValue(start)
    write(&octets)
    endLine()
  }

  /// What has been said until now stays; ``rewind()`` takes back the rest.
  func fix() { fixed = (octets.count, lines.count) }

  func rewind() {
    octets.removeLast(octets.count - fixed.octets)
    lines.removeLast(lines.count - fixed.lines)
  }

  func finish() {
    octets.append(0x0d)
    octets.append(0x0a)
  }

  private func begin(_ name: String) {
    let start = octets.count
    octets += name.utf8
    beginValue(start)
  }

  private func beginValue(_ start: Int) {
    let end = octets.count
    octets.append(0x3a)
    octets.append(0x20)
    lines.append(Line(name: start..<end, value: octets.count..<octets.count))
  }

  private func endLine() {
    let last = lines.count - 1
    lines[last].value = lines[last].value.lowerBound..<octets.count
    octets.append(0x0d)
    octets.append(0x0a)
  }
}
