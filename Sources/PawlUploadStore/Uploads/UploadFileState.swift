import PawlDisk

/// Whose the file of an upload is.
enum UploadFileState: Hashable {
  /// The upload's alone: one descriptor, which all who need it share.
  case own
  /// Opened anew after a failed sync: somebody may have it open besides. It never becomes another's.
  case reopened
  /// The upload needs it no more.
  case freed

  mutating func wasReopened() { if self == .own { self = .reopened } }

  /// - Returns: whether another upload may have it; `nil`: it was freed before.
  mutating func wasFreed() -> Bool? {
    defer { self = .freed }
    return self == .freed ? nil : self == .own
  }
}

/// Whether a sync of the file is under way, and who waits for it. One at a time: the kernel tells of a failure once.
enum UploadSyncing {
  case idle
  case running([SyncWaiter])

  var isRunning: Bool { if case .running = self { true } else { false } }

  private var waiters: [SyncWaiter] { if case .running(let waiters) = self { waiters } else { [] } }

  /// - Returns: whether a sync has to be begun.
  mutating func join(_ waiter: SyncWaiter) -> Bool {
    defer { self = .running(waiters + [waiter]) }
    return !isRunning
  }

  /// Begins one that nobody waits for; `false`: one is under way.
  mutating func begin() -> Bool {
    guard !isRunning else { return false }
    self = .running([])
    return true
  }

  /// One round is done. Where all who waited are satisfied, it was the last.
  mutating func satisfied(where isOver: (SyncWaiter) -> Bool) -> (satisfied: [SyncWaiter], isLast: Bool) {
    let left = waiters.filter { !isOver($0) }
    defer { self = left.isEmpty ? .idle : .running(left) }
    return (waiters.filter(isOver), left.isEmpty)
  }

  /// - Returns: who waited.
  mutating func end() -> [SyncWaiter] {
    defer { self = .idle }
    return waiters
  }

  /// Nothing is left of the bytes behind `offset`: nobody waits for them.
  mutating func goBack(to offset: UInt64) {
    guard case .running(let waiters) = self else { return }
    self = .running(
      waiters.map { SyncWaiter(target: min($0.target, offset), isAhead: $0.isAhead, then: $0.then) })
  }
}

/// Somebody who waits until so many bytes are synced.
struct SyncWaiter {
  let target: UInt64
  /// It is about bytes that are being verified, and may go away again.
  let isAhead: Bool
  let then: @Sendable (StoreError?) -> Void
}

/// How far an upload has come into the catalogue.
enum UploadMaking: Hashable {
  /// Its row has not been taken yet.
  case new
  /// Its row is on its way.
  case inserted
  /// It has all that it was made with, and is on record: before that nothing is done with it.
  case made

  /// - Returns: whether the row is a new one.
  mutating func rowTaken() -> Bool {
    guard self == .new else { return false }
    self = .inserted
    return true
  }

  /// The first row is on record. `false`: none was taken, or it was before, which is impossible.
  mutating func wasMade() -> Bool {
    guard self == .inserted else { return false }
    self = .made
    return true
  }
}
