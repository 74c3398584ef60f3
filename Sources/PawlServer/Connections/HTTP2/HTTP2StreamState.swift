/// The state of one request over HTTP/2 and of its answer.
///
/// Only keeps the state; ``HTTP2Stream`` acts on it. Each event has one function; those that return a `Bool` return whether the
/// state changed.
struct HTTP2StreamState: Hashable {
  enum Answer: UInt8, CaseIterable {
    /// The final response has not begun. Interim responses may have been sent.
    case awaited
    /// The session has the head of the final response.
    case begun
    /// All of the answer is produced: END_STREAM is in a frame.
    case produced
  }

  enum Life: Hashable {
    case open(Answer)
    /// Nothing is sent or received any more. The value is the state that the answer had reached.
    case closed(Answer)
  }

  private(set) var life = Life.open(.awaited)
  /// Whether END_STREAM has come from the client.
  private(set) var requestHasEnded: Bool

  init(requestHasEnded: Bool) { self.requestHasEnded = requestHasEnded }

  // MARK: Derived properties

  private var answer: Answer {
    switch life {
    case .open(let answer), .closed(let answer): answer
    }
  }

  var isClosed: Bool {
    if case .closed = life { true } else { false }
  }

  var hasResponded: Bool { answer != .awaited }
  var hasAnswered: Bool { answer == .produced }
  /// Whether an answer may begin now.
  var mayAnswer: Bool { life == .open(.awaited) }
  /// Whether the answer has begun, and its end is not produced yet.
  var isAnswering: Bool { life == .open(.begun) }

  // MARK: Events

  mutating func requestEnds() { requestHasEnded = true }

  @discardableResult
  mutating func respond() -> Bool {
    guard mayAnswer else { return false }
    life = .open(.begun)
    return true
  }

  /// Notes that END_STREAM is in a frame, which may be the stream's last.
  @discardableResult
  mutating func answerIsProduced() -> Bool {
    switch life {
    case .open(.begun): life = .open(.produced)
    case .closed(.begun): life = .closed(.produced)
    case .open(.awaited), .open(.produced), .closed(.awaited), .closed(.produced): return false
    }
    return true
  }

  @discardableResult
  mutating func close() -> Bool {
    guard case .open(let answer) = life else { return false }
    life = .closed(answer)
    return true
  }
}
