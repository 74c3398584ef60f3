import PawlHTTP
import PawlWire

/// How far the reading of a response has come. Pure; ``OriginExchange`` does what follows.
struct ResponseInput {
  /// Over the present connection.
  enum Stage: Hashable {
    /// Not a byte has come.
    case awaited
    /// A head is coming, or interim ones have come.
    case heads
    /// The final head has come.
    case content(Order)
    /// All of the answer is here, and the exchange goes on for the request's sake.
    case whole
  }

  /// What there was of the request when the final head came.
  enum Order: Hashable, CaseIterable {
    /// All of it.
    case afterRequest
    /// Less: the connection carries no other.
    case early
    /// Less, and the rest is sent nevertheless (``OriginRequest/outlivesAnswer``).
    case outlived
  }

  /// 1xx heads before the final one (protocols.md 8.2, row 67).
  static let interimLimit = 64

  private(set) var stage = Stage.awaited
  var decoder = BodyDecoder(.none)
  var interimCount = 0
  /// Whether the origin would take another request on this connection (RFC 9112 §9.3).
  private(set) var keepsAlive = false
  /// All of the content, while the delegate is told of the head that came with it; whether more came behind that.
  var whole: (content: UnsafeRawBufferPointer, hasMore: Bool)?
  /// Bytes read that could not be delivered yet: the start of a head, or what came behind a pause.
  var held: [UInt8] = []

  /// Content that came with its head is lent out in one piece up to this size, in bytes.
  static let wholeLimit = 64 << 10

  /// The first `count` of these bytes, where they are the whole content.
  static func whole(_ framing: BodyFraming, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard case .length(let count) = framing, count <= wholeLimit, count <= bytes.count else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)])
  }

  // MARK: What follows from the stage

  /// Whether any byte has come over the present connection.
  var hasBegun: Bool { stage != .awaited }

  var hasFinalHead: Bool {
    switch stage {
    case .awaited, .heads: false
    case .content, .whole: true
    }
  }

  /// Whether the final head came before the request was fully sent.
  var isEarly: Bool {
    switch stage {
    case .awaited, .heads, .content(.afterRequest): false
    case .content(.early), .content(.outlived), .whole: true
    }
  }

  /// Whether the request is sent to its end, though this answer has begun before that.
  var letsRequestEnd: Bool {
    switch stage {
    case .awaited, .heads, .content(.afterRequest), .content(.early): false
    case .content(.outlived), .whole: true
    }
  }

  var isWhole: Bool { stage == .whole }

  /// Bytes to ask for where so few are left of the content that they are worth no turn of their own: with one that is not of it,
  /// so that what comes behind is seen. `nil`: they wait for the next turn.
  func lastPiece(within share: Int) -> Int? {
    guard hasFinalHead, let left = decoder.remaining, left > 0, left <= share else { return nil }
    return Int(left) + 1
  }

  // MARK: Events

  /// A new connection carries the response.
  mutating func restart() { self = ResponseInput() }

  mutating func takeBytes() {
    if stage == .awaited { stage = .heads }
  }

  mutating func takeFinal(_ head: ResponseHead, _ framing: BodyFraming, isEarly: Bool) {
    stage = .content(isEarly ? .early : .afterRequest)
    decoder = BodyDecoder(framing, trailers: .all)
    let options = HopByHop.connectionOptions(head.fields)
    keepsAlive = !options.close && (head.version == .http11 || options.keepAlive)
  }

  /// The rest of the request goes out all the same.
  /// - Returns: `false` where none is left, and nothing changes.
  @discardableResult
  mutating func outlive() -> Bool {
    guard stage == .content(.early) else { return false }
    stage = .content(.outlived)
    return true
  }

  /// The content is complete before a request that is sent to its end.
  /// - Returns: `false` where it is not: the answer ends the exchange.
  @discardableResult
  mutating func endBeforeRequest() -> Bool {
    guard stage == .content(.outlived) else { return false }
    stage = .whole
    return true
  }

  /// The origin has ended its side.
  mutating func takeEnd() { keepsAlive = false }
}
