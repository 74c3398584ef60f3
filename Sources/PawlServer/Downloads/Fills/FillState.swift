import PawlCache

/// The state of a fill: whether more may come, where it is stored, and whether the fill goes on without readers. Pure.
struct FillState {
  enum Flow: Equatable {
    /// Whether more may come. It is held while readers, or the check of its file by a replay, have to advance first.
    case coming(WriteFlow<End>)
    case over
  }

  enum End: Equatable {
    case ended(at: UInt64)
    case failed(FetchFailure)
  }

  /// Where the content goes.
  enum Keeping: Equatable {
    case file
    /// Through memory only, at the pace of the readers. `hasWindow`: the body's memory window is for what this fill brings, and no other
    /// fill brings it.
    case memory(hasWindow: Bool)
  }

  /// Whether the fill goes on without readers.
  enum Unread: Equatable {
    case never
    case goesOn
    /// The length is unknown: it goes on this far.
    case measured(AbandonedUnknown)
  }

  private(set) var flow = Flow.coming(.open)
  private(set) var keeping = Keeping.file
  var unread = Unread.never

  init(_ flow: Flow = .coming(.open)) { self.flow = flow }

  /// Whether it waits for its readers, or for a check of its file.
  var isWaiting: Bool { if case .coming(.held) = flow { true } else { false } }
  var isWriting: Bool { if case .coming(.writing) = flow { true } else { false } }
  var allowance: AbandonedUnknown? { if case .measured(let allowance) = unread { allowance } else { nil } }

  /// Notes that a piece goes to the pool.
  /// - Returns: `false` where none can come: the pool never has more than one piece.
  mutating func writes() -> Bool {
    change { $0.writes() } ?? false
  }

  /// Notes that the piece was written, or was not taken.
  /// - Returns: the end that waited for it.
  mutating func written() -> End? {
    if case .end(let end) = change({ $0.written() }) { end } else { nil }
  }

  /// Notes the end of the fetch.
  /// - Returns: whether the end has to wait for a piece in the pool.
  mutating func ends(_ end: End) -> Bool {
    change { $0.ends(end) } ?? false
  }

  /// Notes that a piece was stored.
  mutating func comes(mustWait: Bool) {
    _ = change { mustWait ? $0.holds() : $0.releases() }
  }

  /// Notes that the readers it waited for have moved.
  /// - Returns: whether more is to come.
  mutating func moves() -> Bool {
    change { $0.releases() } ?? false
  }

  /// Notes that the last reader has left and the fill goes on without readers.
  /// - Returns: whether reading has to be resumed. Behind a piece in the pool that happens by itself.
  mutating func goesOnUnread() -> Bool {
    change { flow in
      _ = flow.releases()
      return !flow.isWriting
    } ?? false
  }

  /// Switches to memory, for good.
  mutating func streams() {
    if keeping == .file { keeping = .memory(hasWindow: false) }
  }

  mutating func takesWindow() { if keeping != .file { keeping = .memory(hasWindow: true) } }

  mutating func letsGo() { flow = .over }

  /// - Returns: `nil` if the fill is over; then nothing changes.
  private mutating func change<R>(_ event: (inout WriteFlow<End>) -> R) -> R? {
    guard case .coming(var coming) = flow else { return nil }
    let said = event(&coming)
    flow = .coming(coming)
    return said
  }
}
