import PawlHTTP

/// Where a forwarded request and its answer are: each goes its own way, and either may be over first. Pure, and without references:
/// every byte passed on asks it.
struct ForwardState: Equatable {
  /// The request, on its way to the origin.
  enum Asking: Hashable {
    case fresh
    /// The origin does not hear of it before its content is here, or, where it does not wait, before this turn is over.
    case held(waits: Bool)
    /// A place at the origin is asked for.
    case asked
    case connected
    /// There is no exchange with the origin, and will be none.
    case over
  }

  /// The answer, on its way to the client.
  enum Answer: Hashable {
    case awaited
    /// Its head is here, and goes to the client unless something happens meanwhile.
    case coming
    case ended
    case failed(Failure)
    /// Nobody gets it.
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
  /// Whether content is gathered before the origin hears of it.
  var waits: Bool { asking == .held(waits: true) }
  var isConnected: Bool { asking == .connected }
  /// Whether the head that came is still to be given.
  var givesAnswer: Bool { answer == .coming || answer == .ended }

  // MARK: - The request. Each says whether it was possible; nothing changes where it was not.

  @discardableResult
  mutating func holds(waits: Bool) -> Bool {
    guard asking == .fresh else { return false }
    asking = .held(waits: waits)
    return true
  }

  /// - Returns: from ``Asking/asked``, too: once more, for another place.
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

  /// What the origin answered is of no use: it is asked once more.
  @discardableResult
  mutating func restarts() -> Bool {
    guard asking == .connected, answer == .awaited else { return false }
    asking = .fresh
    return true
  }

  /// The origin has said all, or nothing more is wanted of it.
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

  /// The client sees that it is cut.
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
