import PawlHTTP

/// The state of an HTTP/1.1 connection and of the request that it answers.
///
/// Only keeps the state; ``HTTP1Connection`` acts on it. Each event has one function; those that return a `Bool` return `false`
/// if the event is impossible in the present state. The state of a request's content is an ``IncomingContent`` in ``BusyState``,
/// so that an idle connection needs no memory for it.
struct HTTP1State {
  /// The life of the connection.
  enum Phase: UInt8, CaseIterable {
    /// Nothing has been received, or, where HTTP/2 is allowed, only the beginning of its preface.
    case fresh
    /// The connection is between requests.
    case idle
    /// A head is being read.
    case inHead
    /// A request is being answered; its body may still arrive.
    case exchanging
    /// The last answer is being flushed; then FIN is sent.
    case flushing
    /// FIN is sent; what still arrives is read and dropped so that no RST overtakes the answer (RFC 9112 §9.6).
    case lingering
    /// Closed, or handed over to an HTTP/2 session or a tunnel.
    case closed
  }

  /// The answer to the present request.
  enum Answer: Hashable {
    /// The final response has not begun. Interim responses may have been sent.
    case awaited
    /// The final response has not begun, and a write to the client failed. What the client sent may still be read.
    case unheard
    /// The head of the final response is in the output.
    case begun(Framing)
    /// The kernel has all of the answer. The rest of the request is read and dropped, then the next request may come.
    case sent
  }

  /// How a client finds the end of an answer (RFC 9112 §6).
  enum Framing: UInt8, CaseIterable { case counted, chunked, untilClose }

  /// The state of one request; the state of the next request replaces it completely.
  struct Turn {
    let version: HTTPVersion
    /// Three flags in one byte, to keep idle connections small.
    private var facts: Facts
    fileprivate(set) var answer = Answer.awaited
    /// What happens to request content that is not needed for the answer.
    var wish = UnwantedContent.Wish.none

    init(version: HTTPVersion = .http11, isHead: Bool = false, persists: Bool = true, isClientsLast: Bool = false) {
      self.version = version
      facts = Facts()
      if isHead { facts.insert(.head) }
      if persists { facts.insert(.persists) }
      if isClientsLast { facts.insert(.clientsLast) }
    }

    private struct Facts: OptionSet {
      let rawValue: UInt8

      static let head = Facts(rawValue: 1)
      static let persists = Facts(rawValue: 2)
      static let clientsLast = Facts(rawValue: 4)
    }

    var isHead: Bool { facts.contains(.head) }
    /// Whether the connection may go on after the answer.
    fileprivate(set) var persists: Bool {
      get { facts.contains(.persists) }
      set { if newValue { facts.insert(.persists) } else { facts.remove(.persists) } }
    }
    /// Whether this is the client's last request (`Connection: close`), and no content of it is still to come.
    var isClientsLast: Bool { facts.contains(.clientsLast) }
  }

  private(set) var phase = Phase.fresh
  /// Whether the client has sent FIN. Such a client may still read.
  private(set) var hasClientEnded = false
  var turn = Turn()

  // MARK: Derived properties

  /// Whether a request is awaited, or its head is being read.
  var isWaiting: Bool { phase.rawValue <= Phase.inHead.rawValue }
  /// Whether messages are still read.
  var isOpen: Bool { phase.rawValue <= Phase.exchanging.rawValue }
  /// Whether an answer is being sent, or may be.
  var isSending: Bool { phase == .exchanging || phase == .flushing }

  var hasResponded: Bool {
    switch turn.answer {
    case .awaited, .unheard: false
    case .begun, .sent: true
    }
  }

  /// Whether an answer may begin now.
  var mayAnswer: Bool { phase == .exchanging && !hasResponded }
  /// Whether the client would take an interim response now.
  var takesInterim: Bool { phase == .exchanging && turn.answer == .awaited && turn.version.minor >= 1 }
  var isChunked: Bool { turn.answer == .begun(.chunked) }
  var isCloseDelimited: Bool { turn.answer == .begun(.untilClose) }

  // MARK: Reading

  /// Notes how the received bytes compare with the HTTP/2 preface.
  /// - Parameter begins: whether they are the beginning of the preface.
  mutating func seesPreface(_ begins: Bool) {
    if phase == .fresh, !begins { phase = .idle }
  }

  /// Notes that the first bytes of a head, or more bytes of it, have come.
  /// - Returns: whether these were the first bytes.
  mutating func headBegins() -> Bool {
    guard phase.rawValue < Phase.inHead.rawValue else { return false }
    phase = .inHead
    return true
  }

  /// Notes that the head is complete. Then its request is answered on the hot path, or ``begin(_:)`` follows.
  mutating func headEnds() {
    if phase == .inHead { phase = .idle }
  }

  mutating func clientEnds() { hasClientEnded = true }

  // MARK: Answering

  @discardableResult
  mutating func begin(_ turn: Turn) -> Bool {
    guard isWaiting else { return false }
    (phase, self.turn) = (.exchanging, turn)
    return true
  }

  /// Notes that a write failed before the final response. No more interim responses are sent.
  mutating func writeFailed() {
    if turn.answer == .awaited { turn.answer = .unheard }
  }

  /// Makes this request the connection's last.
  mutating func endsHere() { turn.persists = false }

  /// Notes that the head of the final response is about to be written; ``frame(_:)`` then decides its framing.
  @discardableResult
  mutating func respond() -> Bool {
    guard mayAnswer else { return false }
    turn.answer = .begun(.counted)
    return true
  }

  /// Decides how the content of the answer is framed.
  /// - Returns: the framing to write in the head.
  mutating func frame(_ length: ContentLength) -> BodyFraming {
    switch length {
    case .none: return .none
    case .known(let count): return .length(count)
    case .unknown where turn.isHead: return .none
    case .unknown where turn.version.minor >= 1:
      turn.answer = .begun(.chunked)
      return .chunked
    case .unknown:
      turn.answer = .begun(.untilClose)
      turn.persists = false
      return .none
    }
  }

  /// Notes that the kernel has all of the answer.
  @discardableResult
  mutating func answerIsSent() -> Bool {
    guard phase == .exchanging, hasResponded else { return false }
    turn.answer = .sent
    return true
  }

  /// Ends the present request, so that the next one may come.
  @discardableResult
  mutating func awaitRequest() -> Bool {
    guard phase == .exchanging else { return false }
    (phase, turn) = (.idle, Turn())
    return true
  }

  // MARK: Ending

  /// Ends the connection after what is in the output has been sent.
  @discardableResult
  mutating func flush() -> Bool {
    guard isOpen else { return false }
    phase = .flushing
    turn.persists = false
    return true
  }

  /// Notes that FIN is sent.
  @discardableResult
  mutating func linger() -> Bool {
    guard phase.rawValue < Phase.lingering.rawValue else { return false }
    phase = .lingering
    return true
  }

  @discardableResult
  mutating func close() -> Bool {
    guard phase != .closed else { return false }
    phase = .closed
    return true
  }
}
