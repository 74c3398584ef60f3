import PawlHTTP

/// The states of a forwarded request and of its response; either may be over first. Pure, and without references, because the
/// state is read for every piece of content.
struct ForwardState: Equatable {
  /// The request, on its way to the origin.
  enum Asking: Hashable {
    case fresh
    /// The request is not sent yet: its content has to come first, or, if `waits` is false, this turn of the loop has to end.
    case held(waits: Bool)
    /// The request waits for a place at the origin.
    case asked
    case connected
    /// The exchange with the origin is over.
    case over
  }

  /// The response, on its way to the client.
  enum Answer: Hashable {
    case awaited
    /// The response's head is here, and goes to the client unless the exchange fails before.
    case coming
    case ended
    case failed(Failure)
    /// The response is dropped: no client gets it.
    case dropped
  }

  enum Failure: Hashable {
    /// The request's content is larger than `max-upload`.
    case contentTooLarge
    case origin(ProxyError.Kind)

    var end: BodyEnd {
      switch self {
      case .contentTooLarge: BodyEnd(party: .client, reason: "max-upload")
      case .origin(let kind): BodyEnd(party: .origin, reason: kind.rawValue)
      }
    }
  }

  private(set) var asking = Asking.fresh
  private(set) var answer = Answer.awaited

  init(_ asking: Asking = .fresh, _ answer: Answer = .awaited) { (self.asking, self.answer) = (asking, answer) }

  var isHeld: Bool { if case .held = asking { true } else { false } }
  /// Whether the request's content is buffered before the request is sent.
  var waits: Bool { asking == .held(waits: true) }
  var isConnected: Bool { asking == .connected }
  /// Whether the client still gets the head that came.
  var givesAnswer: Bool { answer == .coming || answer == .ended }

  // MARK: - The request. Each function returns whether the step was possible; if not, nothing changes.

  @discardableResult
  mutating func holds(waits: Bool) -> Bool {
    guard asking == .fresh else { return false }
    asking = .held(waits: waits)
    return true
  }

  /// Notes that the request asks for a place at the origin. It may ask again, for another kind of place.
  @discardableResult
  mutating func asks() -> Bool {
    switch asking {
    case .fresh, .held, .asked: asking = .asked
    case .connected, .over: return false
    }
    return true
  }

  @discardableResult
  mutating func connects() -> Bool {
    guard asking == .asked else { return false }
    asking = .connected
    return true
  }

  /// Begins again, because the origin's response is of no use.
  @discardableResult
  mutating func restarts() -> Bool {
    guard asking == .connected, answer == .awaited else { return false }
    asking = .fresh
    return true
  }

  /// Notes that the exchange with the origin ends.
  mutating func originEnds() { asking = .over }

  // MARK: - The answer

  @discardableResult
  mutating func answerBegins() -> Bool {
    guard answer == .awaited else { return false }
    answer = .coming
    return true
  }

  @discardableResult
  mutating func answerEnds() -> Bool {
    guard answer == .coming else { return false }
    answer = .ended
    return true
  }

  /// Notes that the response fails. The client sees that the response is cut.
  @discardableResult
  mutating func answerFails(_ failure: Failure) -> Bool {
    switch answer {
    case .awaited, .coming, .dropped: answer = .failed(failure)
    case .ended, .failed: return false
    }
    return true
  }

  mutating func dropsAnswer() { answer = .dropped }
}
