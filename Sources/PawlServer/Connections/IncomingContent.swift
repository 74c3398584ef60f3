import PawlHTTP
import PawlWire

/// The state of a request's content over HTTP/1.1, on its way to the exchange. The functions have no side effects; the connection
/// acts on what they return.
enum IncomingContent {
  /// No content was announced, or all of it and its end have been passed on.
  case none
  case arriving(BodyDecoder)
  /// The content is held back, because the exchange takes no more of it for now.
  case heldBack(BodyDecoder)

  // MARK: Derived properties

  var isNone: Bool {
    if case .none = self { true } else { false }
  }

  var isHeldBack: Bool {
    if case .heldBack = self { true } else { false }
  }

  private var decoder: BodyDecoder? {
    switch self {
    case .none: nil
    case .arriving(let decoder), .heldBack(let decoder): decoder
    }
  }

  /// Whether more content is still to come.
  var isUnended: Bool { decoder.map { !$0.isEnded } ?? false }
  /// Whether all bytes have come and only the end is still to be passed on to the exchange.
  var isEndUntold: Bool { decoder?.isEnded ?? false }
  /// Bytes that are still to come; `nil` if that is not known (chunked), or no content is awaited.
  var remaining: UInt64? { decoder?.remaining }

  // MARK: Events

  /// Decodes the next event from these bytes. Returns `nil` if no content is awaited, or the content is held back.
  mutating func next(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> BodyDecoder.Event? {
    guard case .arriving(var decoder) = self else { return nil }
    // If `self` still held the decoder, the decoder would be copied at its next change.
    self = .none
    let event = decoder.next(buffer, range)
    self = .arriving(decoder)
    return event
  }

  /// Ends the content. Called before the end is passed on to the exchange.
  /// - Returns: the trailers.
  mutating func end() -> Fields {
    let trailers = decoder?.trailers ?? Fields()
    self = .none
    return trailers
  }

  /// Holds the content back, since the exchange takes no more. Returns `false` if no content is arriving.
  mutating func holdBack() -> Bool {
    guard case .arriving(let decoder) = self else { return false }
    self = .heldBack(decoder)
    return true
  }

  /// Lets the content go on, since the exchange takes content again or the content is to be dropped. Returns `false` if the
  /// content was not held back.
  @discardableResult
  mutating func goOn() -> Bool {
    guard case .heldBack(let decoder) = self else { return false }
    self = .arriving(decoder)
    return true
  }
}
