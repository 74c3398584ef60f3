import PawlDisk

/// The state of the file of an upload: whether it may be reused.
enum UploadFileState: Hashable {
  /// The file has one descriptor, which all users share.
  case own
  /// The file was opened again after a failed sync, and may have a second descriptor. It is never reused for another upload.
  case reopened
  /// The upload does not need the file any more.
  case freed

  mutating func wasReopened() { if self == .own { self = .reopened } }

  /// Notes that the file is not needed any more.
  /// - Returns: whether it may be reused for another upload; `nil`: it was freed before.
  mutating func wasFreed() -> Bool? {
    defer { self = .freed }
    return self == .freed ? nil : self == .own
  }
}

/// The sync of a file that is under way, with the callers that wait for it. There is one sync at a time, because the kernel reports
/// a failed write to one sync only.
enum UploadSyncing {
  case idle
  case running([SyncWaiter])

  var isRunning: Bool { if case .running = self { true } else { false } }

  private var waiters: [SyncWaiter] { if case .running(let waiters) = self { waiters } else { [] } }

  /// Adds a waiter.
  /// - Returns: whether a sync has to be begun.
  mutating func join(_ waiter: SyncWaiter) -> Bool {
    defer { self = .running(waiters + [waiter]) }
    return !isRunning
  }

  /// Begins a sync without waiters; `false`: one is under way.
  mutating func begin() -> Bool {
    guard !isRunning else { return false }
    self = .running([])
    return true
  }

  /// Notes that the file was synced, and removes the waiters that this satisfies. `isLast`: no waiters are left, and the syncing
  /// ends.
  mutating func satisfied(where isOver: (SyncWaiter) -> Bool) -> (satisfied: [SyncWaiter], isLast: Bool) {
    let left = waiters.filter { !isOver($0) }
    defer { self = left.isEmpty ? .idle : .running(left) }
    return (waiters.filter(isOver), left.isEmpty)
  }

  /// Ends the sync.
  /// - Returns: the waiters that are left.
  mutating func end() -> [SyncWaiter] {
    defer { self = .idle }
    return waiters
  }

  /// Limits all waiters to `offset`, because the bytes after it do not count any more.
  mutating func goBack(to offset: UInt64) {
    guard case .running(let waiters) = self else { return }
    self = .running(
      waiters.map { SyncWaiter(target: min($0.target, offset), isAhead: $0.isAhead, then: $0.then) })
  }
}

/// A caller that waits until the first `target` bytes are synced.
struct SyncWaiter {
  let target: UInt64
  /// Whether the caller waits for bytes that are being verified and may still be discarded.
  let isAhead: Bool
  let then: @Sendable (StoreError?) -> Void
}

/// How far an upload has been recorded in the catalogue.
enum UploadMaking: Hashable {
  /// The upload's row has not been taken for a commit yet.
  case new
  /// The upload's row is part of a commit.
  case inserted
  /// The upload is completely created and recorded. Before that, nothing else is done with it.
  case made

  /// Notes that the row was taken for a commit.
  /// - Returns: whether it is the first row, which has to be inserted.
  mutating func rowTaken() -> Bool {
    guard self == .new else { return false }
    self = .inserted
    return true
  }

  /// Notes that the first row is recorded. `false`: no row was taken, or it was recorded before; both would be a mistake in pawl.
  mutating func wasMade() -> Bool {
    guard self == .inserted else { return false }
    self = .made
    return true
  }
}
