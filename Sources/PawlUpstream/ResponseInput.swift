import PawlHTTP
import PawlWire

/// How far the reading of a response has come.
struct ResponseInput {
  /// 1xx heads before the final one (protocols.md 8.2, row 67).
  static let interimLimit = 64

  var decoder = BodyDecoder(.none)
  var framing = BodyFraming.none
  var interimCount = 0
  /// Whether any octet has come over the present connection.
  var hasBegun = false
  var hasFinalHead = false
  /// Whether the origin would take another request on this connection (RFC 9112 §9.3).
  var keepsAlive = false
  /// Whether the final head came before the request was fully sent.
  var isEarly = false
  /// The request is sent to its end, though this answer has begun before that (``OriginRequest/outlivesAnswer``).
  var letsRequestEnd = false
  /// All of the answer is here, and the exchange goes on for the request's sake.
  var isWhole = false
  /// All of the content, while the delegate is told of the head that came with it; whether more came behind that.
  var whole: (content: UnsafeRawBufferPointer, hasMore: Bool)?
  /// Octets read that could not be delivered yet: the start of a head, or what came behind a pause.
  var held: [UInt8] = []

  /// Content that came with its head is lent out in one piece up to this size, in octets.
  static let wholeLimit = 64 << 10

  /// The first `count` of these octets, where they are the whole content.
  static func whole(_ framing: BodyFraming, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard case .length(let count) = framing, count <= wholeLimit, count <= bytes.count else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)])
  }

  /// A new connection carries the response.
  mutating func restart() { self = ResponseInput() }

  mutating func takeFinal(_ head: ResponseHead, _ framing: BodyFraming, isEarly: Bool) {
    (hasFinalHead, self.framing, self.isEarly) = (true, framing, isEarly)
    decoder = BodyDecoder(framing, trailers: .all)
    let options = HopByHop.connectionOptions(head.fields)
    keepsAlive = !options.close && (head.version == .http11 || options.keepAlive)
  }
}
