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
  /// Octets read that could not be delivered yet: the start of a head, or what came behind a pause.
  var held: [UInt8] = []

  /// A new connection carries the response.
  mutating func restart() { self = ResponseInput() }

  mutating func takeFinal(_ head: ResponseHead, _ framing: BodyFraming, isEarly: Bool) {
    (hasFinalHead, self.framing, self.isEarly) = (true, framing, isEarly)
    decoder = BodyDecoder(framing, trailers: .all)
    let options = HopByHop.connectionOptions(head.fields)
    keepsAlive = !options.close && (head.version == .http11 || options.keepAlive)
  }
}
