import PawlCache

/// The state of a fill: whether more bytes may come, where they are stored, and whether the fill goes on without readers. Pure.
struct FillState {
  enum Flow: Equatable {
    /// Content comes. The flow is held while readers have to advance first, or a replay has to check more of the file.
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
    /// Through memory only, at the pace of the readers. `hasWindow`: the bytes of this fill go into the body's memory window; no other fill
    /// may write there.
    case memory(hasWindow: Bool)
  }

  /// Whether the fill goes on without readers.
  enum Unread: Equatable {
    case never
    case goesOn
    /// The length of the body is unknown, so the fill goes on as far as this allowance permits.
    case measured(AbandonedUnknown)
  }

  private(set) var flow = Flow.coming(.open)
  private(set) var keeping = Keeping.file
  var unread = Unread.never

  init(_ flow: Flow = .coming(.open)) { self.flow = flow }

  /// Whether the fill waits for its readers, or for a check of its file.
  var isWaiting: Bool { if case .coming(.held) = flow { true } else { false } }
  var isWriting: Bool { if case .coming(.writing) = flow { true } else { false } }
  var allowance: AbandonedUnknown? { if case .measured(let allowance) = unread { allowance } else { nil } }

  /// Notes that a piece goes to the pool.
  /// - Returns: `false` if no piece may go there now, because the pool has at most one piece of a fill at a time.
  mutating func writes() -> Bool {
    change { $0.writes() } ?? false
  }

  /// Notes that the pool has written the piece, or has not taken it.
  /// - Returns: the end of the fetch, if the fetch ended while the pool had the piece.
  mutating func written() -> End? {
    if case .end(let end) = change({ $0.written() }) { end } else { nil }
  }

  /// Notes the end of the fetch.
  /// - Returns: whether the end has to wait for a piece in the pool.
  mutating func ends(_ end: End) -> Bool {
    change { $0.ends(end) } ?? false
  }

  /// Notes that a piece was stored. `mustWait`: whether the next piece has to wait.
  mutating func comes(mustWait: Bool) {
    _ = change { mustWait ? $0.holds() : $0.releases() }
  }

  /// Notes that the readers for which the fill waited have advanced.
  /// - Returns: whether reading has to be resumed.
  mutating func moves() -> Bool {
    change { $0.releases() } ?? false
  }

  /// Notes that the last reader has left and the fill goes on without readers.
  /// - Returns: whether reading has to be resumed. `false` while the pool has a piece: reading is resumed after that piece.
  mutating func goesOnUnread() -> Bool {
    change { flow in
      _ = flow.releases()
      return !flow.isWriting
    } ?? false
  }

  /// Switches from the file to memory. There is no way back.
  mutating func streams() {
    if keeping == .file { keeping = .memory(hasWindow: false) }
  }

  mutating func takesWindow() { if keeping != .file { keeping = .memory(hasWindow: true) } }

  mutating func letsGo() { flow = .over }

  /// Changes the flow.
  /// - Returns: `nil` if the fill is over; then nothing changes.
  private mutating func change<R>(_ event: (inout WriteFlow<End>) -> R) -> R? {
    guard case .coming(var coming) = flow else { return nil }
    let said = event(&coming)
    flow = .coming(coming)
    return said
  }
}
