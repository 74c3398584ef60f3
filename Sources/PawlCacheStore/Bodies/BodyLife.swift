/// The state of a body's content.
enum BodyContent: Hashable {
  /// Some bytes are missing. A fill is bringing them, or may bring them later.
  case filling
  case complete
  /// Complete, synced to the disk, and recorded as complete in the catalogue.
  case recorded
  /// The body has failed for good, and every reader ends with this failure. `wasComplete`: whether all bytes were held when it
  /// failed, and none were lost since.
  case failed(BodyFailure, wasComplete: Bool)

  /// Whether all bytes are held. For a failed body: whether they were held when it failed.
  var isComplete: Bool {
    switch self {
    case .filling, .failed(_, wasComplete: false): false
    case .complete, .recorded, .failed(_, wasComplete: true): true
    }
  }

  /// Whether all bytes are held and readers may get them.
  var isWhole: Bool {
    switch self {
    case .complete, .recorded: true
    case .filling, .failed: false
    }
  }

  var failure: BodyFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// Notes that all bytes have come.
  /// - Returns: `false` if the body has already failed; then it stays failed.
  mutating func completed() -> Bool {
    switch self {
    case .filling: self = .complete
    case .complete, .recorded: break
    case .failed: return false
    }
    return true
  }

  /// Notes that the catalogue has recorded the body as complete. Does nothing if the body has lost bytes since then.
  mutating func wasRecorded() { if self == .complete { self = .recorded } }

  /// Notes that some bytes were found damaged or missing.
  mutating func wasCut() {
    switch self {
    case .filling: break
    case .complete, .recorded: self = .filling
    case .failed(let failure, _): self = .failed(failure, wasComplete: false)
    }
  }

  /// Notes a failure. Only the first failure is kept.
  /// - Returns: `false` if the body had already failed.
  mutating func failed(_ failure: BodyFailure) -> Bool {
    guard self.failure == nil else { return false }
    self = .failed(failure, wasComplete: isComplete)
    return true
  }
}

/// The place of a body's bytes.
enum BodyPlace: Hashable {
  /// In a file of its own.
  case file
  /// In memory only, and not given to readers yet. If all bytes come soon, they go to a pack, else to a file.
  case gathered
  /// In memory only, while the pool makes a file for the bytes.
  case settling
  /// In a pack, which has all bytes of the body.
  case packed(PackPlace)

  /// Whether the body has a file of its own. Only such a body is recorded in the catalogue and the ledger, and synced as a single
  /// file.
  var isFile: Bool { self == .file }
  /// Whether the body is still gathered in memory.
  var isGathering: Bool { self == .gathered || self == .settling }
  var packed: PackPlace? { if case .packed(let place) = self { place } else { nil } }
}

/// Whether look-ups find a body.
enum BodyPublication: UInt8, Hashable {
  /// Not yet in the index, so no look-up finds the body.
  case unpublished
  /// In the index. If the body has a file of its own, it is also in the catalogue, or about to be recorded there.
  case published
  /// Taken out of the index. Its file and row are being removed, or are removed already.
  case doomed

  /// Notes that the body was put into the index.
  /// - Returns: `false` if the body was already doomed; then it stays doomed.
  mutating func wasPublished() -> Bool {
    if self == .doomed { return false }
    self = .published
    return true
  }

  /// Notes that the body was taken out of the index.
  /// - Returns: the state before; `nil` if the body was already doomed.
  mutating func wasDoomed() -> BodyPublication? {
    defer { self = .doomed }
    return self == .doomed ? nil : self
  }
}

/// Whether the catalogue was asked to take changes of a body.
enum BodyReport: UInt8, Hashable {
  case clean
  /// The catalogue takes the body's changes with the next commit.
  case dirty
  /// The catalogue was also asked to commit at once.
  case hurried

  /// The notice that the catalogue gets now.
  enum Telling: Hashable { case nothing, dirty, dirtySoon, hurry }

  /// Decides which notice the catalogue gets.
  /// - Parameters:
  ///   - isDue: whether there is something to record.
  ///   - isLarge: whether more bytes are unrecorded than may wait for the next commit.
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

  /// Notes that the catalogue has taken the changes.
  mutating func wasTaken() { self = .clean }
}

/// The state of the syncs of a body's file to the disk.
enum BodySync: UInt8, Hashable {
  /// Never synced; the directory entry is not on the disk either.
  case never
  /// The first sync is running.
  case first
  /// No sync is running. The directory entry is on the disk, and so are all bytes that were written before the last sync.
  case idle
  /// A later sync is running.
  case again

  var isRunning: Bool { self == .first || self == .again }
  var isNameSynced: Bool { self == .idle || self == .again }

  /// Notes that a sync begins.
  /// - Returns: `false` if a sync is already running.
  mutating func began() -> Bool {
    switch self {
    case .never: self = .first
    case .idle: self = .again
    case .first, .again: return false
    }
    return true
  }

  /// Notes that the sync has succeeded.
  /// - Returns: `false` if no sync was running, which must not happen. ``failed()`` returns the same.
  mutating func ended() -> Bool { end(.idle) }

  /// Notes that the sync could not be started, or that the kernel could not write.
  mutating func failed() -> Bool { end(self == .first ? .never : .idle) }

  private mutating func end(_ state: Self) -> Bool {
    guard isRunning else { return false }
    self = state
    return true
  }
}

/// The state of the copy of a small body in memory. The bytes are in a property of their own (``BodyState/memory``), so that a
/// look-up can mark them as used without copying them.
enum BodyMemory: UInt8, Hashable {
  case none
  /// The pool is reading the bytes.
  case promoting
  /// In memory, and not used since the clock hand (``MemoryBodies``) last passed.
  case kept
  case used

  /// Notes that the pool begins to read the bytes.
  /// - Returns: `false` if the bytes are in memory, or are already being read.
  mutating func promotionBegan() -> Bool {
    guard self == .none else { return false }
    self = .promoting
    return true
  }

  mutating func promotionFailed() { if self == .promoting { self = .none } }

  /// Notes that the bytes were dropped, because they are invalid or other bodies need the memory. If the pool is reading the
  /// bytes, it goes on, and checks the body at the end.
  mutating func wasDropped() { if self != .promoting { self = .none } }

  /// Notes that the clock hand passes. A copy that was used since the hand last passed stays, but now counts as unused.
  /// - Returns: whether the copy stays.
  mutating func wasPassed() -> Bool {
    guard self == .used else { return false }
    self = .kept
    return true
  }
}

/// The state of a growing body's request for disk space, which is made before the bytes come.
enum BodyGrowth: UInt8, Hashable {
  case idle
  case asked
  /// The fill that requested the space has paused since, so the space is released as soon as it is granted.
  case late

  mutating func paused() { if self == .asked { self = .late } }

  /// Notes that the request was granted or refused.
  /// - Returns: whether the body still needs the space.
  mutating func wasAnswered() -> Bool {
    defer { self = .idle }
    return self == .asked
  }
}
