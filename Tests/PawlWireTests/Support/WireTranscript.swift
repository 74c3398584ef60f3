import PawlHTTP
import PawlTestKit
import PawlWire

/// The bytes of a text whose characters are all below U+0100, one each.
func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

/// A buffer in which only `message[..<arrived]` has come in: other bytes stand before it and behind it.
struct ReceiveBuffer {
  static let start = 5
  var bytes: [UInt8]
  var range: Range<Int>

  init(_ message: [UInt8], arrived: Int) {
    bytes = latin("Z: \r\n") + message.prefix(arrived) + latin("\r\n\r\n0\r\n\r\nGARBAGE")
    range = Self.start..<Self.start + arrived
  }
}

/// What becomes of a message, as one line that a table can hold.
///
/// A request: `GET /path host 1.1 framing|Name: value|…`, without its Host line; a refusal: its status.
func requestOutcome(
  _ message: [UInt8], _ fragmenter: Fragmenter, limits: HeadLimits = HeadLimits(), isSecure: Bool = false
) -> String {
  var parser = RequestParser(limits: limits, isSecure: isSecure)
  for arrived in fragmenter.arrivals(message.count) {
    let buffer = ReceiveBuffer(message, arrived: arrived)
    switch parser.parse(buffer.bytes, buffer.range) {
    case .needMore: continue
    case .refused(let refusal): return "\(refusal.status)"
    case .head(let count):
      let rest = message.count - count
      return describe(parser.makeHead(buffer.bytes)) + (rest > 0 ? " +\(rest)" : "")
    }
  }
  return "more"
}

func describe(_ head: RequestHead) -> String {
  let line =
    "\(head.method.bytes[...].text) \(head.target.text) \(head.authority.text) 1.\(head.version.minor) "
    + describe(head.framing)
  return ([line] + describe(head.fields, without: .host)).joined(separator: "|")
}

func describe(_ framing: BodyFraming) -> String {
  switch framing {
  case .none: "none"
  case .length(let count): "\(count)"
  case .chunked: "chunked"
  case .untilClose: "close"
  }
}

func describe(_ fields: Fields, without name: FieldName = .other) -> [String] {
  fields.lines.filter { name == .other || $0.name != name }.map { line in
    let bytes = fields.name(line) + Array(": ".utf8) + fields.value(line)
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// A response: `200 reason 1.1|Name: value|…`; a refusal: the kind of its error.
func responseOutcome(_ message: [UInt8], _ fragmenter: Fragmenter, limits: HeadLimits = HeadLimits()) -> String {
  var parser = ResponseParser(limits: limits)
  for arrived in fragmenter.arrivals(message.count) {
    let buffer = ReceiveBuffer(message, arrived: arrived)
    switch parser.parse(buffer.bytes, buffer.range) {
    case .needMore: continue
    case .refused(let error): return "\(error.kind)"
    case .head(let head, let count):
      let rest = message.count - count
      let line = "\(head.status) \(head.reason.text) 1.\(head.version.minor)"
      return ([line] + describe(head.fields)).joined(separator: "|")
        + (rest > 0 ? " +\(rest)" : "")
    }
  }
  return "more"
}

/// A body: its content, then `.` when complete, `!reason` when malformed, `…` when more is needed; in brackets
/// the bytes that are left for the next message.
func bodyOutcome(
  _ bytes: [UInt8], _ framing: BodyFraming, _ fragmenter: Fragmenter, limits: ChunkLimits = ChunkLimits()
) -> String {
  var decoder = BodyDecoder(framing, limits: limits)
  var content: [UInt8] = []
  var taken = 0
  for arrived in fragmenter.arrivals(bytes.count) {
    let buffer = ReceiveBuffer(bytes, arrived: arrived)
    reading: while true {
      let start = buffer.range.lowerBound + taken
      switch decoder.next(buffer.bytes, start..<buffer.range.upperBound) {
      case .needMore(let consumed):
        taken += consumed
        break reading
      case .data(let range, let consumed):
        content += buffer.bytes[range]
        taken += consumed
      case .end(let consumed):
        taken += consumed
        let rest = bytes.count - taken
        return content[...].text + "." + (rest > 0 ? "[\(bytes[taken...].text)]" : "")
      case .malformed: return content[...].text + "!"
      }
    }
  }
  return content[...].text + (decoder.endOfStreamIsComplete() ? "" : "…")
}
