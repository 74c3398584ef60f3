import PawlBase

/// The test origin's response to a download: `/bytes/SIZE[/NAME][?validators=none&ranges=no&cut=N&delay=MS&cache=no]`.
struct OriginPlan: Hashable {
  var size: UInt64
  var hasValidators = true
  var hasRanges = true
  var isKept = true
  /// The number of content bytes after which each response breaks off.
  var cut: UInt64?
  /// The delay before each response in milliseconds.
  var delay: UInt64 = 0

  /// Parses a target; `nil` for other paths.
  init?(_ target: String) {
    let pieces = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = pieces[0].split(separator: "/", omittingEmptySubsequences: false)
    guard path.count >= 3, path[0].isEmpty, path[1] == "bytes", let size = Self.bytes(path[2]) else { return nil }
    self.size = size
    guard pieces.count == 2 else { return }
    for setting in pieces[1].split(separator: "&") { take(setting) }
  }

  private mutating func take(_ setting: Substring) {
    let pair = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2 else { return }
    switch (pair[0], pair[1]) {
    case ("validators", "none"): hasValidators = false
    case ("ranges", "no"): hasRanges = false
    case ("cache", "no"): isKept = false
    case ("cut", let count): cut = Self.bytes(count)
    case ("delay", let milliseconds): delay = min(UInt64(milliseconds) ?? 0, 3_600_000)
    default: break
    }
  }

  /// Parses a number of bytes: `1000`, `64K`, `1M`, `2G`.
  private static func bytes(_ text: Substring) -> UInt64? {
    let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let unit = text.last.flatMap { units[$0] }
    guard let number = UInt64(unit == nil ? text : text.dropLast()), number <= 1 << 46 / (unit ?? 1) else { return nil }
    return number * (unit ?? 1)
  }

  /// The entity tag of all bodies of this size, which have the same content.
  var tag: String { "\"bench-\(size)\"" }
  static let date = "Sat, 01 Aug 2026 00:00:00 GMT"

  /// Returns the head of the response, and the range of the body that follows it.
  func answer(_ request: OriginRequest, _ bytes: Span<UInt8>) -> (head: [UInt8], content: Range<UInt64>) {
    if hasValidators, let tags = AnswerHead.text("if-none-match", in: bytes), tags == "*" || tags.contains(tag) {
      return (finish(Array("HTTP/1.1 304 Not Modified\r\n".utf8), nil), 0..<0)
    }
    let range = hasRanges ? range(request, bytes) : .whole
    switch range {
    case .whole: return (finish(Array("HTTP/1.1 200 OK\r\n".utf8), size), 0..<size)
    case .unsatisfiable:
      let text = "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */\(size)\r\n"
      return (finish(Array(text.utf8), 0), 0..<0)
    case .part(let part):
      let range = "\(part.lowerBound)-\(part.upperBound - 1)/\(size)"
      let text = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(range)\r\n"
      return (finish(Array(text.utf8), part.upperBound - part.lowerBound), part)
    }
  }

  private func finish(_ line: [UInt8], _ length: UInt64?) -> [UInt8] {
    var head = line
    head.reserveCapacity(512)
    if let length {
      head += "Content-Length: ".utf8
      head.append(decimal: length)
      head += "\r\nContent-Type: application/octet-stream\r\n".utf8
    }
    if hasValidators {
      head += "ETag: \"bench-".utf8
      head.append(decimal: size)
      head += "\"\r\nLast-Modified: ".utf8
      head += Self.date.utf8
      head += "\r\n".utf8
    }
    if hasRanges { head += "Accept-Ranges: bytes\r\n".utf8 }
    head += (isKept ? "Cache-Control: max-age=3600\r\n\r\n" : "Cache-Control: no-store\r\n\r\n").utf8
    return head
  }

  private enum Selection { case whole, unsatisfiable, part(Range<UInt64>) }

  /// Reads a Range field with one range. A request for several ranges gets the complete body, which RFC 9110 §14.2 allows.
  private func range(_ request: OriginRequest, _ bytes: Span<UInt8>) -> Selection {
    guard request.method == .get, let value = AnswerHead.field("range", in: bytes),
      bytes.begins(with: "bytes=", at: value.lowerBound)
    else { return .whole }
    if let condition = AnswerHead.text("if-range", in: bytes) {
      guard hasValidators, condition == tag || condition == Self.date else { return .whole }
    }
    var at = value.lowerBound + 6
    let first = bytes.number(&at, value.upperBound)
    guard at < value.upperBound, bytes[at] == 0x2d else { return .whole }
    at += 1
    let last = bytes.number(&at, value.upperBound)
    guard at == value.upperBound else { return .whole }
    switch (first, last) {
    case (nil, let count?): return count == 0 || size == 0 ? .unsatisfiable : .part((size - min(count, size))..<size)
    case (let first?, nil): return first < size ? .part(first..<size) : .unsatisfiable
    case (let first?, let last?):
      guard first <= last else { return .whole }
      return first < size ? .part(first..<min(last + 1, size)) : .unsatisfiable
    case (nil, nil): return .whole
    }
  }
}
