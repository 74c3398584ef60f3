import PawlHTTP

/// Where a connection of HTTP/1.1 is in its life, and in the request that it answers. Pure: each event has one function,
/// which says whether it was possible; ``HTTP1Connection`` does what follows. Where a request's content is says
/// ``IncomingContent``, since an idle connection has no room for it.
struct HTTP1State {
  /// The life of the connection.
  enum Phase: UInt8, CaseIterable {
    /// Nothing has come but, perhaps, a part of the preface of HTTP/2, which may be spoken here.
    case undecided
    /// Between requests.
    case idle
    /// Inside a head.
    case inHead
    /// A request is being answered; its body may still arrive.
    case exchanging
    /// The last answer is being flushed; then FIN.
    case flushing
    /// FIN is sent; what still arrives is read and dropped so that no RST overtakes the answer (RFC 9112 §9.6).
    case lingering
    /// Closed, or given to somebody else: a session of HTTP/2, a tunnel.
    case closed
  }

  /// The answer to the present request.
  enum Answer: Hashable {
    /// Interim heads may have gone.
    case awaited
    /// The same, of a client that takes nothing any more; what it sent may still be read.
    case unheard
    /// The final head is in the output.
    case begun(Framing)
    /// All is with the kernel; what is left of the request is read and dropped, then the next one may come.
    case sent
  }

  /// How a client finds the end of an answer (RFC 9112 §6).
  enum Framing: UInt8, CaseIterable { case counted, chunked, untilClose }

  /// What belongs to one request: replaced as a whole by the next.
  struct Turn {
    let version: HTTPVersion
    /// One byte for three answers: an idle connection has room for no more.
    private var facts: Facts
    fileprivate(set) var answer = Answer.awaited
    /// What becomes of request content that nobody wants.
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
    /// Whether the client has said that it sends nothing behind this request, and nothing of it is still to come.
    var isClientsLast: Bool { facts.contains(.clientsLast) }
  }

  private(set) var phase: Phase
  /// FIN has come: whether the client still reads, nobody knows.
  private(set) var hasClientEnded = false
  var turn = Turn()

  init(mayBeHTTP2: Bool) { phase = mayBeHTTP2 ? .undecided : .idle }

  // MARK: What follows from that

  /// Between requests, or inside a head.
  var isWaiting: Bool { phase.rawValue <= Phase.inHead.rawValue }
  /// Messages are still read.
  var isOpen: Bool { phase.rawValue <= Phase.exchanging.rawValue }
  /// Something is, or may be, on its way to the client.
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

  /// What has come so far begins, or does not begin, as HTTP/2 does.
  mutating func seesPreface(_ begins: Bool) {
    if phase == .undecided, !begins { phase = .idle }
  }

  /// - Returns: whether the head begins only now.
  mutating func headBegins() -> Bool {
    guard phase.rawValue < Phase.inHead.rawValue else { return false }
    phase = .inHead
    return true
  }

  /// The head is complete: what it asks for is answered at once, or begins.
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

  /// The client takes nothing of interim heads.
  mutating func clientGoesDeaf() {
    if turn.answer == .awaited { turn.answer = .unheard }
  }

  /// The connection ends with this request, whatever comes.
  mutating func endsHere() { turn.persists = false }

  /// The final head is about to go; how its content is framed is still to be said.
  @discardableResult
  mutating func respond() -> Bool {
    guard mayAnswer else { return false }
    turn.answer = .begun(.counted)
    return true
  }

  /// - Returns: how that is said in the head.
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

  /// All of the answer is with the kernel.
  @discardableResult
  mutating func answerIsSent() -> Bool {
    guard phase == .exchanging, hasResponded else { return false }
    turn.answer = .sent
    return true
  }

  /// The next request may come.
  @discardableResult
  mutating func awaitRequest() -> Bool {
    guard phase == .exchanging else { return false }
    (phase, turn) = (.idle, Turn())
    return true
  }

  // MARK: Ending

  /// What is in the output is the last of it.
  @discardableResult
  mutating func flush() -> Bool {
    guard isOpen else { return false }
    phase = .flushing
    turn.persists = false
    return true
  }

  /// FIN is sent.
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
