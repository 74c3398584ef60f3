/// The phase of a request about an upload, and whether its client is still connected. Pure: each event has one function, which
/// returns what the caller has to do, or whether the step was possible. `Wait` is the type that waits for the origin's response,
/// and `Forward` the type that passes the request on.
struct UploadExchangeState<Wait, Forward> {
  enum Phase {
    /// The request waits for the application, the disk or the previous writer; its content is kept meanwhile.
    case preparing
    /// The upload is complete; the first byte or the end of this append's content shows whether the append is empty.
    case awaitingContent
    /// Content is written. Reading from the client is stopped while too many of the written bytes are not durable yet. The end of
    /// the content is handled after the content that waits.
    case receiving(WriteFlow<Never>)
    /// All content is here, and is being made durable, even if the client has left.
    case storing
    case waiting(Wait)
    /// The request was passed on: the origin speaks the protocol itself.
    case passedOn(Forward)
    case over(Told)
  }

  /// Which response the client got.
  enum Told: Hashable {
    case originAnswer
    /// A response of pawl's own, or none.
    case other
  }

  /// What the caller has to do after an event: content, its end, a client that leaves, or a response that was sent.
  enum Action: Hashable {
    case nothing
    /// Write the content, or handle its end, after earlier content that still waits.
    case take
    /// Keep the content or its end for later.
    case keep
    /// Keep the content or its end, and decide about the append: it is known now whether the append is empty.
    case judge
    /// Pass the event to `Forward`.
    case pass
    /// Handle a client that has left before its content could be taken.
    case leaveEarly
    case leaveInContent
    /// Cancel the wait: the client has left.
    case cancelWait
    /// Record that the client has the origin's response.
    case noteDelivered
  }

  enum Step: Hashable {
    case done
    /// The event came too late to change anything.
    case late
    /// The event cannot happen in this phase; nothing changes.
    case impossible
  }

  private(set) var phase = Phase.preparing
  /// Whether the client has left. Storing goes on without the client.
  private(set) var isClientGone = false

  init(_ phase: Phase = .preparing) { self.phase = phase }

  var isPreparing: Bool { if case .preparing = phase { true } else { false } }
  var isReceiving: Bool { if case .receiving = phase { true } else { false } }
  var isStoring: Bool { if case .storing = phase { true } else { false } }
  var isOver: Bool { if case .over = phase { true } else { false } }

  private var taking: WriteFlow<Never>? { if case .receiving(let taking) = phase { taking } else { nil } }
  /// Whether waiting content may be written now.
  var mayWrite: Bool { taking?.isWriting == false }
  /// Whether the client may send more content.
  var mayRead: Bool { if case .receiving(.open) = phase { true } else { false } }
  /// Whether reading is stopped until enough of the written bytes are synced.
  var isSyncing: Bool { taking?.isHeld == true }

  var wait: Wait? { if case .waiting(let wait) = phase { wait } else { nil } }
  var forward: Forward? { if case .passedOn(let forward) = phase { forward } else { nil } }

  // MARK: - Content

  mutating func awaitsContent() -> Step { move(.awaitingContent) { $0.isPreparing } }

  /// Notes that it is known now whether the append to a complete upload is empty.
  mutating func judgesContent() -> Step {
    if case .preparing = phase { return .late }
    return move(.preparing) { if case .awaitingContent = $0.phase { true } else { false } }
  }

  /// Begins to take content.
  mutating func opens() -> Step { move(.receiving(.open)) { $0.isPreparing } }

  /// Returns what to do with a piece of content that came.
  /// - Parameter hasWaiting: whether earlier content has not been written yet.
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

  /// Notes that a write in the pool begins.
  mutating func writes() -> Step { take { $0.writes() ? .done : .impossible } }

  /// Notes that the write in the pool has ended, with success or not.
  mutating func written() -> Step {
    switch phase {
    case .storing, .waiting, .over: .late
    case .preparing, .awaitingContent, .receiving, .passedOn: take { $0.written() == .goOn ? .done : .impossible }
    }
  }

  /// Stops reading until the written bytes are synced.
  mutating func syncs() -> Step { take { $0.holds() ? .done : .impossible } }

  /// Notes that enough of the written bytes are synced.
  mutating func synced() -> Step {
    guard isSyncing else { return .late }
    return take { taking in
      _ = taking.releases()
      return .done
    }
  }

  /// Notes that no more content is taken, because the response is being prepared.
  mutating func stopsTaking() -> Step {
    if case .storing = phase { return .late }
    return move(.storing) { $0.isPreparing || $0.isReceiving }
  }

  // MARK: - The end

  mutating func waits(_ wait: Wait) -> Step { move(.waiting(wait)) { $0.isPreparing || $0.isStoring } }

  mutating func passesOn(_ forward: Forward) -> Step { move(.passedOn(forward)) { $0.isPreparing } }

  /// Notes that the request ends, with or without a response. Calls after the first one change nothing.
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

  /// Returns what to do when the response has been handed to the socket.
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
