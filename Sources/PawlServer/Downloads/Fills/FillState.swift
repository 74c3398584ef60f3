import PawlCache

/// Where a fill is: whether more may come, where it goes, and for whom it goes on. Pure.
struct FillState {
  enum Flow: Equatable {
    /// Whether more may come. It is held where who reads it, or looks through its file, has to move first.
    case coming(WriteFlow<End>)
    case over
  }

  enum End: Equatable {
    case ended(at: UInt64)
    case failed(FetchFailure)
  }

  /// Where it goes.
  enum Keeping: Equatable {
    case file
    /// Past the disk, at the pace of the readers. The body's window may be for what this fill brings: then nobody else brings it.
    case memory(hasWindow: Bool)
  }

  /// Whether it goes on though nobody reads it.
  enum Unread: Equatable {
    case never
    case goesOn
    /// Where nobody knows the length: so far.
    case measured(AbandonedUnknown)
  }

  private(set) var flow = Flow.coming(.open)
  private(set) var keeping = Keeping.file
  var unread = Unread.never

  init(_ flow: Flow = .coming(.open)) { self.flow = flow }

  /// Whether it waits for who reads it.
  var isWaiting: Bool { if case .coming(.held) = flow { true } else { false } }
  var isWriting: Bool { if case .coming(.writing) = flow { true } else { false } }
  var allowance: AbandonedUnknown? { if case .measured(let allowance) = unread { allowance } else { nil } }

  /// A piece goes to the pool.
  /// - Returns: `false` where none can come: more than one piece at a time never does.
  mutating func writes() -> Bool {
    change { $0.writes() } ?? false
  }

  /// It is written, or was not taken.
  /// - Returns: the end that waited for it.
  mutating func written() -> End? {
    if case .end(let end) = change({ $0.written() }) { end } else { nil }
  }

  /// - Returns: whether the end has to wait.
  mutating func ends(_ end: End) -> Bool {
    change { $0.ends(end) } ?? false
  }

  /// A piece is where it goes.
  mutating func comes(mustWait: Bool) {
    _ = change { mustWait ? $0.holds() : $0.releases() }
  }

  /// Those that it waited for have moved.
  /// - Returns: whether more is to come.
  mutating func moves() -> Bool {
    change { $0.releases() } ?? false
  }

  /// The last reader has gone, and it goes on for nobody.
  /// - Returns: whether more is to come; after what is being written it does by itself.
  mutating func goesOnUnread() -> Bool {
    change { flow in
      _ = flow.releases()
      return !flow.isWriting
    } ?? false
  }

  /// Once past the disk, it stays there.
  mutating func streams() {
    if keeping == .file { keeping = .memory(hasWindow: false) }
  }

  mutating func takesWindow() { if keeping != .file { keeping = .memory(hasWindow: true) } }

  mutating func letsGo() { flow = .over }

  /// - Returns: `nil`: it is over, and nothing changes.
  private mutating func change<R>(_ event: (inout WriteFlow<End>) -> R) -> R? {
    guard case .coming(var coming) = flow else { return nil }
    let said = event(&coming)
    flow = .coming(coming)
    return said
  }
}
