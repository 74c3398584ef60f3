/// What has come of a body's bytes.
enum BodyContent: Hashable {
  /// Not all are held: they come, or may come again.
  case filling
  case complete
  /// The catalogue says so, too, and they are on the disk.
  case recorded
  /// For good: every reader ends with it. What is known of the body stays.
  case failed(BodyFailure, wasComplete: Bool)

  /// Whether all bytes are held, of a failed one: were.
  var isComplete: Bool {
    switch self {
    case .filling, .failed(_, wasComplete: false): false
    case .complete, .recorded, .failed(_, wasComplete: true): true
    }
  }

  /// Whether all bytes are held and may be given.
  var isWhole: Bool {
    switch self {
    case .complete, .recorded: true
    case .filling, .failed: false
    }
  }

  var failure: BodyFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// All bytes have come. `false`: it has failed before, and stays so.
  mutating func completed() -> Bool {
    switch self {
    case .filling: self = .complete
    case .complete, .recorded: break
    case .failed: return false
    }
    return true
  }

  /// The catalogue was told that it is complete, unless it is not any more.
  mutating func wasRecorded() { if self == .complete { self = .recorded } }

  /// Some bytes were found damaged or gone.
  mutating func wasCut() {
    switch self {
    case .filling: break
    case .complete, .recorded: self = .filling
    case .failed(let failure, _): self = .failed(failure, wasComplete: false)
    }
  }

  /// The first failure stays: `false` for a second one.
  mutating func failed(_ failure: BodyFailure) -> Bool {
    guard self.failure == nil else { return false }
    self = .failed(failure, wasComplete: isComplete)
    return true
  }
}

/// Where a body's bytes are.
enum BodyPlace: Hashable {
  /// In a file of its own.
  case file
  /// In memory alone, and given to nobody: they go into a pack when all have come soon, else into a file.
  case gathered
  /// The same, while a file is being made for them, or a record.
  case settling
  /// All of them in a pack.
  case packed(PackPlace)

  /// Whether the catalogue, the ledger and the syncs of files know of it.
  var isFile: Bool { self == .file }
  /// Whether it still gathers.
  var isGathering: Bool { self == .gathered || self == .settling }
  var packed: PackPlace? { if case .packed(let place) = self { place } else { nil } }
}

/// Whether a body is to be found.
enum BodyStanding: UInt8, Hashable {
  /// Nobody finds it before it is put into the index.
  case unpublished
  /// In the index, and in the catalogue or about to be.
  case published
  /// Taken out: file and row go, or are gone.
  case doomed

  /// `false`: it was taken out before, and stays so.
  mutating func wasPublished() -> Bool {
    if self == .doomed { return false }
    self = .published
    return true
  }

  /// - Returns: what it was; `nil`: it is doomed already.
  mutating func wasDoomed() -> BodyStanding? {
    defer { self = .doomed }
    return self == .doomed ? nil : self
  }
}

/// What the catalogue was asked to look at.
enum BodyReport: UInt8, Hashable {
  case clean
  /// Its changes are taken with the next commit.
  case dirty
  /// The same, and that is not to wait.
  case hurried

  /// What is told of it now.
  enum Telling: Hashable { case nothing, dirty, dirtySoon, hurry }

  /// - Parameters:
  ///   - isDue: there is something to record.
  ///   - isLarge: more than may wait.
  mutating func told(isDue: Bool, isLarge: Bool) -> Telling {
    switch self {
    case .clean:
      guard isDue else { return .nothing }
      self = .dirty
      return isLarge ? .dirtySoon : .dirty
    case .dirty:
      guard isLarge else { return .nothing }
      self = .hurried
      return .hurry
    case .hurried: return .nothing
    }
  }

  /// The catalogue takes what there is.
  mutating func wasTaken() { self = .clean }
}

/// How a body's file has come to the disk.
enum BodySync: UInt8, Hashable {
  /// Not even its name.
  case never
  /// The first sync is under way.
  case first
  /// Its name is there, and what was written before the last sync.
  case idle
  /// Another sync is under way.
  case again

  var isRunning: Bool { self == .first || self == .again }
  var isNameSynced: Bool { self == .idle || self == .again }

  /// `false`: one is under way.
  mutating func began() -> Bool {
    switch self {
    case .never: self = .first
    case .idle: self = .again
    case .first, .again: return false
    }
    return true
  }

  /// `false`: none was under way, which is impossible; so it is of ``failed()``.
  mutating func ended() -> Bool { end(.idle) }

  /// It did not come to be, or the kernel could not write.
  mutating func failed() -> Bool { end(self == .first ? .never : .idle) }

  private mutating func end(_ state: Self) -> Bool {
    guard isRunning else { return false }
    self = state
    return true
  }
}

/// The copy of a small body in memory. The bytes stand beside it: a look-up that gives them out marks them as used, and must
/// not copy them for that.
enum BodyMemory: UInt8, Hashable {
  case none
  /// The pool reads them.
  case promoting
  /// There, and not used since the clock hand passed.
  case kept
  case used

  /// `false`: it is there, or about to be.
  mutating func promotionBegan() -> Bool {
    guard self == .none else { return false }
    self = .promoting
    return true
  }

  mutating func promotionFailed() { if self == .promoting { self = .none } }

  /// The bytes are no good, or the memory is for others. One that is being read is looked at when it has been.
  mutating func wasDropped() { if self != .promoting { self = .none } }

  /// The clock hand passes: who was used since is spared once. - Returns: whether it stays.
  mutating func wasPassed() -> Bool {
    guard self == .used else { return false }
    self = .kept
    return true
  }
}

/// Room that a growing body asks for ahead of its bytes.
enum BodyGrowth: UInt8, Hashable {
  case idle
  case asked
  /// Asked for by a fill that has paused since: it goes back.
  case late

  mutating func paused() { if self == .asked { self = .late } }

  /// The room is there, or is not. - Returns: whether anybody wants it.
  mutating func wasAnswered() -> Bool {
    defer { self = .idle }
    return self == .asked
  }
}
