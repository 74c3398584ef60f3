import PawlHTTP
import PawlWire

/// Where the content of a request is that is framed in bytes (HTTP/1.1), on its way to the exchange. Pure; whoever reads the
/// connection does what follows.
enum IncomingContent {
  /// None was announced, or all has come and been told.
  case none
  case arriving(BodyDecoder)
  /// The exchange takes no more for now.
  case heldBack(BodyDecoder)

  // MARK: What follows from that

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

  /// Whether there is more to come of it.
  var isUnended: Bool { decoder.map { !$0.isEnded } ?? false }
  /// Whether all has come, and only its end has not been told.
  var isEndUntold: Bool { decoder?.isEnded ?? false }
  /// Bytes that are still to come; `nil` where nobody knows.
  var remaining: UInt64? { decoder?.remaining }

  // MARK: Events

  /// What of these bytes is content; `nil` where there is none, or it has to wait.
  mutating func next(_ buffer: borrowing [UInt8], _ range: Range<Int>) -> BodyDecoder.Event? {
    guard case .arriving(var decoder) = self else { return nil }
    // The decoder is not copied while it goes on.
    self = .none
    let event = decoder.next(buffer, range)
    self = .arriving(decoder)
    return event
  }

  /// Its end is about to be told.
  /// - Returns: what stands behind it.
  mutating func end() -> Fields {
    let trailers = decoder?.trailers ?? Fields()
    self = .none
    return trailers
  }

  /// The exchange takes no more. `false` where nothing is to come that it could take.
  mutating func holdBack() -> Bool {
    guard case .arriving(let decoder) = self else { return false }
    self = .heldBack(decoder)
    return true
  }

  /// The exchange takes it again, or it is to be dropped. `false` where it was not held back.
  @discardableResult
  mutating func goOn() -> Bool {
    guard case .heldBack(let decoder) = self else { return false }
    self = .arriving(decoder)
    return true
  }
}
