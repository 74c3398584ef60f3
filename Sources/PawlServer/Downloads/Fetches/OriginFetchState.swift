/// The state of a fetch from its first request to the last byte, over all attempts. Pure: an event changes the state, and most events
/// return the action to perform.
struct OriginFetchState: Equatable {
  /// The state of the response that is being read.
  enum Answer: Hashable { case coming, ended, broken }

  enum Phase: Hashable {
    /// A request was sent, for the first time or after a break.
    case asking
    /// The sink decides about the first head. The response may already be over.
    case accepting(Answer)
    case receiving(Answer)
    /// Bytes that came again are compared with the bytes on disk, in the pool. No byte is used before the result is known.
    case comparing(Answer)
    case backingOff
    case ended
  }

  enum Action: Hashable {
    case nothing
    /// Use the bytes that wait, and read more.
    case goOn
    /// The response is over: check whether it was complete.
    case conclude
    case breakOff
    case tellNoAnswer
    /// The event is impossible in this state (a defect of pawl): end the fetch.
    case impossible
  }

  private(set) var phase = Phase.asking
  /// Whether the sink takes no more bytes for now. This depends on the sink alone, not on the origin.
  private(set) var isPaused = false
  /// Whether the origin has broken off, so that the bytes which come now are a resumption. The first response to a span is no resumption.
  private(set) var hasBroken = false

  init(_ phase: Phase = .asking, isPaused: Bool = false) { (self.phase, self.isPaused) = (phase, isPaused) }

  var isEnded: Bool { phase == .ended }
  /// Whether bytes may be used at once.
  var isReceiving: Bool { if case .receiving = phase { true } else { false } }
  var isComparing: Bool { if case .comparing = phase { true } else { false } }
  var isAccepting: Bool { if case .accepting = phase { true } else { false } }
  /// Whether content is being read at all.
  var isReading: Bool { isReceiving || isComparing }

  /// Notes that a request goes out.
  mutating func asks() -> Action {
    switch phase {
    case .asking, .backingOff:
      phase = .asking
      return .goOn
    case .ended: return .nothing
    case .accepting, .receiving, .comparing: return .impossible
    }
  }

  /// Notes that a final head came.
  mutating func receivedHead(goesOn: Bool) -> Action {
    guard phase == .asking else { return phase == .ended ? .nothing : .impossible }
    phase = goesOn ? .receiving(.coming) : .accepting(.coming)
    return .goOn
  }

  /// Notes that the sink accepts the content of the first response.
  mutating func accepted() -> Action {
    guard case .accepting(let answer) = phase else { return .nothing }
    phase = .receiving(answer)
    return answer == .coming ? .goOn : .conclude
  }

  /// Notes that bytes are compared in the pool.
  mutating func compares() {
    if case .receiving(let answer) = phase { phase = .comparing(answer) }
  }

  mutating func compared() -> Action {
    guard case .comparing(let answer) = phase else { return .nothing }
    phase = .receiving(answer)
    return .goOn
  }

  mutating func pauses() { isPaused = true }

  mutating func resumes() -> Action {
    guard isPaused else { return .nothing }
    isPaused = false
    return isReceiving ? .goOn : .nothing
  }

  /// Notes that the response came to its end.
  mutating func answerEnded(hasMore: Bool) -> Action {
    switch phase {
    case .accepting(.coming): phase = .accepting(.ended)
    case .receiving(.coming):
      phase = .receiving(.ended)
      if !hasMore { return .conclude }
    case .comparing(.coming): phase = .comparing(.ended)
    case .ended: break
    case .asking, .backingOff, .accepting, .receiving, .comparing: return .impossible
    }
    return .nothing
  }

  /// Notes that the origin broke off. Bytes that came before the break still count, and are used first.
  mutating func broke(hasMore: Bool, beforeAnyAnswer: Bool) -> Action {
    switch phase {
    case .asking, .accepting(.coming): return beforeAnyAnswer ? .tellNoAnswer : .breakOff
    case .receiving(.coming) where hasMore: phase = .receiving(.broken)
    case .receiving(.coming): return .breakOff
    case .comparing(.coming): phase = .comparing(.broken)
    case .ended: break
    case .backingOff, .accepting, .receiving, .comparing: return .impossible
    }
    return .nothing
  }

  /// Decides what to do when all bytes that waited were used.
  func usedAll() -> Action {
    guard case .receiving(let answer) = phase, !isPaused else { return .nothing }
    switch answer {
    case .coming: return .goOn
    case .ended: return .conclude
    case .broken: return .breakOff
    }
  }

  mutating func breaks() { hasBroken = true }

  /// Notes that the attempt failed; another one is made after a while.
  mutating func backsOff() { if phase != .ended { phase = .backingOff } }

  mutating func ends() { phase = .ended }
}
