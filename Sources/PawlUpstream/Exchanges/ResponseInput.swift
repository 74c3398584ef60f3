import PawlHTTP
import PawlWire

/// The state of reading a response. Pure; ``OriginExchange`` acts on it.
struct ResponseInput {
  /// How far the response has come over the present connection.
  enum Stage: Hashable {
    /// No byte has come yet.
    case awaited
    /// A head is coming, or interim heads have come.
    case heads
    /// The final response head has come.
    case content(Order)
    /// The response is complete, and the exchange goes on only to send the request to its end.
    case whole
  }

  /// How much of the request was sent when the final response head came.
  enum Order: Hashable, CaseIterable {
    /// The complete request.
    case afterRequest
    /// Only a part of the request (an early response), so the connection is not reused.
    case early
    /// Only a part of the request, but the rest is sent even after the response is complete (``OriginRequest/outlivesAnswer``).
    case outlived
  }

  /// The most interim responses (1xx) before the final one (Hygiene, "endless 1xx").
  static let interimLimit = 64

  private(set) var stage = Stage.awaited
  var decoder = BodyDecoder(.none)
  var interimCount = 0
  /// Whether the origin would take another request on this connection (RFC 9112 §9.3).
  private(set) var keepsAlive = false
  /// All of the content, if it came with the head; set only while the delegate is called with that head. `hasMore`: bytes came
  /// after the content.
  var whole: (content: UnsafeRawBufferPointer, hasMore: Bool)?
  /// Bytes that were read, but could not be delivered yet: the start of a head, or the bytes after the point where the delegate
  /// paused the exchange.
  var held: [UInt8] = []

  /// The most bytes of content that the delegate gets in one piece if the content came with its head.
  static let wholeLimit = 64 << 10

  /// Returns the complete content, if these bytes begin with it; `nil`: they do not, or its length is unknown or above
  /// ``wholeLimit``.
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

  /// Whether the request is sent to its end although the response has begun before that.
  var letsRequestEnd: Bool {
    switch stage {
    case .awaited, .heads, .content(.afterRequest), .content(.early): false
    case .content(.outlived), .whole: true
    }
  }

  var isWhole: Bool { stage == .whole }

  /// Returns how many bytes to read when the budget of this turn is used up, but the rest of the content fits into one more
  /// `share`. This is the rest and one byte more, to notice bytes after the end of the response. `nil`: the rest is larger or
  /// unknown, and is read in the next turn.
  func lastPiece(within share: Int) -> Int? {
    guard hasFinalHead, let left = decoder.remaining, left > 0, left <= share else { return nil }
    return Int(left) + 1
  }

  // MARK: Events

  /// Starts over on a new connection.
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

  /// Lets the rest of the request be sent to its end although the response came early.
  /// - Returns: `false` if the response did not come early; nothing changes then.
  @discardableResult
  mutating func outlive() -> Bool {
    guard stage == .content(.early) else { return false }
    stage = .content(.outlived)
    return true
  }

  /// Notes that the response is complete before the request, which is still sent to its end.
  /// - Returns: `false` if the request is not sent to its end; the response ends the exchange then.
  @discardableResult
  mutating func endBeforeRequest() -> Bool {
    guard stage == .content(.outlived) else { return false }
    stage = .whole
    return true
  }

  /// Notes that the origin has closed its side of the connection.
  mutating func takeEnd() { keepsAlive = false }
}
