/// Where a fetch is, from its first request to the last byte, over as many attempts as that takes. Pure: each event says what is to be
/// done about it.
struct OriginFetchState: Equatable {
  /// How the answer that is being read stands.
  enum Answer: Hashable { case coming, ended, broken }

  enum Phase: Hashable {
    /// A request is out, for the first time or after a break.
    case asking
    /// The first head is with whoever decides about it; the answer may be over with that.
    case accepting(Answer)
    case receiving(Answer)
    /// What came is held against the disk, in the pool; nothing is used until that is known.
    case comparing(Answer)
    case backingOff
    case ended
  }

  enum Action: Hashable {
    case nothing
    /// What waits is used, and more is read.
    case goOn
    /// The answer is over: whether it was whole is to be looked at.
    case conclude
    case breakOff
    case tellNoAnswer
    /// The event cannot come here; the fetch ends.
    case impossible
  }

  private(set) var phase = Phase.asking
  /// The sink takes no more for now: by its own pace, whatever the origin does.
  private(set) var isPaused = false
  /// What comes now is a resumption; the first answer to a span is none.
  private(set) var hasBroken = false

  init(_ phase: Phase = .asking, isPaused: Bool = false) { (self.phase, self.isPaused) = (phase, isPaused) }

  var isEnded: Bool { phase == .ended }
  /// Whether bytes may be used at once.
  var isReceiving: Bool { if case .receiving = phase { true } else { false } }
  var isComparing: Bool { if case .comparing = phase { true } else { false } }
  var isAccepting: Bool { if case .accepting = phase { true } else { false } }
  /// Whether content is being read at all.
  var isReading: Bool { isReceiving || isComparing }

  /// A request goes out.
  mutating func asks() -> Action {
    switch phase {
    case .asking, .backingOff:
      phase = .asking
      return .goOn
    case .ended: return .nothing
    case .accepting, .receiving, .comparing: return .impossible
    }
  }

  /// A final head came.
  /// - Parameter goesOn: it has been judged to go on with what is held.
  mutating func receivedHead(goesOn: Bool) -> Action {
    guard phase == .asking else { return phase == .ended ? .nothing : .impossible }
    phase = goesOn ? .receiving(.coming) : .accepting(.coming)
    return .goOn
  }

  /// The content of the first answer is wanted.
  mutating func accepted() -> Action {
    guard case .accepting(let answer) = phase else { return .nothing }
    phase = .receiving(answer)
    return answer == .coming ? .goOn : .conclude
  }

  /// What came is compared elsewhere.
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

  /// The answer came to its end.
  /// - Parameter hasMore: bytes of it wait to be used.
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

  /// The origin broke off. What came before that still counts, and is used first.
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

  /// All that waited has been used.
  func usedAll() -> Action {
    guard case .receiving(let answer) = phase, !isPaused else { return .nothing }
    switch answer {
    case .coming: return .goOn
    case .ended: return .conclude
    case .broken: return .breakOff
    }
  }

  mutating func breaks() { hasBroken = true }

  /// The attempt has come to nothing; another one is made after a while.
  mutating func backsOff() { if phase != .ended { phase = .backingOff } }

  mutating func ends() { phase = .ended }
}
