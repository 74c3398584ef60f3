import PawlCache

/// Where a fill is: whether more may come, where it goes, and for whom it goes on. Pure.
struct FillState {
  /// Whether more may come.
  enum Flow: Equatable {
    case going
    /// Who reads it, or looks through its file, has to move first.
    case waiting
    /// A piece is being written in the pool, and nothing more comes until it is; what came to its end meanwhile waits for that.
    case writing(End?)
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

  private(set) var flow = Flow.going
  private(set) var keeping = Keeping.file
  var unread = Unread.never

  init(_ flow: Flow = .going) { self.flow = flow }

  var isWriting: Bool { if case .writing = flow { true } else { false } }
  var allowance: AbandonedUnknown? { if case .measured(let allowance) = unread { allowance } else { nil } }

  /// A piece goes to the pool.
  /// - Returns: `false` where none can come: more than one piece at a time never does.
  mutating func writes() -> Bool {
    guard flow == .going || flow == .waiting else { return false }
    flow = .writing(nil)
    return true
  }

  /// It is written, or was not taken.
  /// - Returns: the end that waited for it.
  mutating func written() -> End? {
    guard case .writing(let end) = flow else { return nil }
    flow = .going
    return end
  }

  /// - Returns: whether the end has to wait.
  mutating func ends(_ end: End) -> Bool {
    guard isWriting else { return false }
    flow = .writing(end)
    return true
  }

  /// A piece is where it goes.
  mutating func comes(mustWait: Bool) {
    switch flow {
    case .going, .waiting: flow = mustWait ? .waiting : .going
    case .writing, .over: break
    }
  }

  /// Those that it waited for have moved.
  /// - Returns: whether more is to come.
  mutating func moves() -> Bool {
    guard flow == .waiting else { return false }
    flow = .going
    return true
  }

  /// The last reader has gone, and it goes on for nobody.
  /// - Returns: whether more is to come; after what is being written it does by itself.
  mutating func goesOnUnread() -> Bool {
    switch flow {
    case .going, .waiting:
      flow = .going
      return true
    case .writing, .over: return false
    }
  }

  /// Once past the disk, it stays there.
  mutating func streams() {
    if keeping == .file { keeping = .memory(hasWindow: false) }
  }

  mutating func takesWindow() { if keeping != .file { keeping = .memory(hasWindow: true) } }

  mutating func letsGo() { flow = .over }
}
