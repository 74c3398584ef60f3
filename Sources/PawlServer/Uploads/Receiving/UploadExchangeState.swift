/// Where a request about an upload is in its life, and whether its client is still there. Pure: each event has one function, which says
/// what follows. `Wait` is what waits for the origin's answer, `Forward` what the request is passed on by.
struct UploadExchangeState<Wait, Forward> {
  enum Phase {
    /// Others are asked (the application, the disk, the writer before); content waits.
    case preparing
    /// The upload is complete: whether this append brings anything, its first byte or its end will say.
    case awaitingContent
    /// Whether more content may be read; it is held while too much of it is not durable yet. Its end stands with the content that
    /// waits, whatever that waits for.
    case receiving(WriteFlow<Never>)
    /// All content is here and becomes durable; this goes on when the client has left.
    case storing
    case waiting(Wait)
    /// The origin speaks the protocol itself.
    case passedOn(Forward)
    case over(Told)
  }

  /// What the client was answered.
  enum Told: Hashable {
    case originAnswer
    /// pawl's own words, or nothing.
    case other
  }

  /// What becomes of content that comes, of its end, and of a client that leaves or has its answer.
  enum Action: Hashable {
    case nothing
    /// It is written, behind what waits.
    case take
    /// It waits.
    case keep
    /// It waits, and says what the request is.
    case judge
    /// Whoever the request was passed on by is told.
    case pass
    /// The client has left before its content could be taken.
    case leaveEarly
    case leaveInContent
    /// Nobody waits any more.
    case cancelWait
    /// The client has the origin's answer.
    case noteDelivered
  }

  enum Step: Hashable {
    case done
    /// It comes too late to change anything.
    case late
    /// It cannot come here; nothing changes.
    case impossible
  }

  private(set) var phase = Phase.preparing
  /// Of the client, not of the request: what is being stored goes on without it.
  private(set) var isClientGone = false

  init(_ phase: Phase = .preparing) { self.phase = phase }

  var isPreparing: Bool { if case .preparing = phase { true } else { false } }
  var isReceiving: Bool { if case .receiving = phase { true } else { false } }
  var isStoring: Bool { if case .storing = phase { true } else { false } }
  var isOver: Bool { if case .over = phase { true } else { false } }

  private var taking: WriteFlow<Never>? { if case .receiving(let taking) = phase { taking } else { nil } }
  /// Whether content that is here may be written now.
  var mayWrite: Bool { taking?.isWriting == false }
  /// Whether the client may send more.
  var mayRead: Bool { if case .receiving(.open) = phase { true } else { false } }
  /// Whether the disk is behind.
  var isSyncing: Bool { taking?.isHeld == true }

  var wait: Wait? { if case .waiting(let wait) = phase { wait } else { nil } }
  var forward: Forward? { if case .passedOn(let forward) = phase { forward } else { nil } }

  // MARK: - Content

  mutating func awaitsContent() -> Step { move(.awaitingContent) { $0.isPreparing } }

  /// What an append that brings nothing is, or one that brings too much, is known.
  mutating func judgesContent() -> Step {
    if case .preparing = phase { return .late }
    return move(.preparing) { if case .awaitingContent = $0.phase { true } else { false } }
  }

  /// Content is taken from now on.
  mutating func opens() -> Step { move(.receiving(.open)) { $0.isPreparing } }

  /// - Parameter hasWaiting: content that came before it has not been written.
  func contentComes(hasWaiting: Bool) -> Action {
    switch phase {
    case .receiving(.open) where !hasWaiting: .take
    case .preparing, .receiving: .keep
    case .awaitingContent: .judge
    case .passedOn: .pass
    case .storing, .waiting, .over: .nothing
    }
  }

  func contentEnds() -> Action {
    switch phase {
    case .preparing: .keep
    case .awaitingContent: .judge
    case .receiving: .take
    case .passedOn: .pass
    case .storing, .waiting, .over: .nothing
    }
  }

  /// A piece goes to the pool.
  mutating func writes() -> Step { take { $0.writes() ? .done : .impossible } }

  /// The pool has written it, or could not.
  mutating func written() -> Step {
    switch phase {
    case .storing, .waiting, .over: .late
    case .preparing, .awaitingContent, .receiving, .passedOn: take { $0.written() == .goOn ? .done : .impossible }
    }
  }

  /// No more is read until the disk has what was written.
  mutating func syncs() -> Step { take { $0.holds() ? .done : .impossible } }

  /// The disk has enough of it.
  mutating func synced() -> Step {
    guard isSyncing else { return .late }
    return take { taking in
      _ = taking.releases()
      return .done
    }
  }

  /// The rest of the content is not wanted, and the answer is being made.
  mutating func stopsTaking() -> Step {
    if case .storing = phase { return .late }
    return move(.storing) { $0.isPreparing || $0.isReceiving }
  }

  // MARK: - The end

  mutating func waits(_ wait: Wait) -> Step { move(.waiting(wait)) { $0.isPreparing || $0.isStoring } }

  mutating func passesOn(_ forward: Forward) -> Step { move(.passedOn(forward)) { $0.isPreparing } }

  /// The request has its answer, or gets none. What it was told first counts.
  mutating func ends(_ told: Told) -> Step { move(.over(told)) { _ in true } }

  mutating func clientLeaves() -> Action {
    isClientGone = true
    return switch phase {
    case .preparing, .awaitingContent: .leaveEarly
    case .receiving: .leaveInContent
    case .waiting: .cancelWait
    case .passedOn: .pass
    case .storing, .over: .nothing
    }
  }

  /// The answer has been handed to the socket.
  func answerSent() -> Action {
    switch phase {
    case .passedOn: .pass
    case .over(.originAnswer): .noteDelivered
    case .preparing, .awaitingContent, .receiving, .storing, .waiting, .over: .nothing
    }
  }

  private mutating func take(_ event: (inout WriteFlow<Never>) -> Step) -> Step {
    guard var taking else { return isOver ? .late : .impossible }
    let step = event(&taking)
    phase = .receiving(taking)
    return step
  }

  private mutating func move(_ next: Phase, from isPossible: (Self) -> Bool) -> Step {
    if isOver { return .late }
    guard isPossible(self) else { return .impossible }
    phase = next
    return .done
  }
}

extension UploadExchangeState.Phase: Equatable where Wait: Equatable, Forward: Equatable {}
