/// A waiting claim to the right to add bytes to an upload.
protocol UploadClaim {
  associatedtype Holder
  var writer: Holder { get }
  /// Whether the claimant only reads the state.
  var isReadOnly: Bool { get }
}

/// The state of the right to add bytes to an upload: its holder, the next holder, and the work on the file meanwhile. Pure state,
/// without files and loops.
///
/// `isBroken` is separate from ``work``, because a failure to cut or open the file has effect until the next takeover, even after
/// the work on the file has ended.
struct WritingRight<Claim: UploadClaim> {
  enum Seat {
    case vacant
    /// The holder only reads the state.
    case reader(Claim.Holder)
    case writer(Claim.Holder)
    /// The bytes of the holder count only after they are verified.
    case verifier(Claim.Holder)
  }

  /// The present work on the file.
  enum Work: Hashable {
    case idle
    /// A `pwrite` is under way. If the seat is vacant, it is the write of a holder from which another request has taken over.
    case writing
    /// The pool truncates or opens the file.
    case settling
  }

  private(set) var seat = Seat.vacant
  private(set) var work = Work.idle
  /// The claim that waits until no write is under way.
  private(set) var next: Claim?
  /// A number that grows with each takeover. A writer of another generation adds nothing.
  private(set) var generation: UInt64 = 0
  /// Whether cutting or opening the file failed. If so, the next write fails.
  private(set) var isBroken = false

  // MARK: Questions

  var isVacant: Bool { if case .vacant = seat { true } else { false } }
  var isVerifying: Bool { if case .verifier = seat { true } else { false } }
  /// Whether a holder may add bytes.
  var isWritten: Bool {
    switch seat {
    case .vacant, .reader: false
    case .writer, .verifier: true
    }
  }
  /// Whether a holder may add bytes, or a claim to do so waits.
  var isWanted: Bool { next.map { !$0.isReadOnly } ?? isWritten }
  /// Whether there is no holder, no claim, and no work of the pool.
  var isCalm: Bool { isVacant && next == nil && work != .settling }

  // MARK: Takeover

  /// The consequences of the end of a holder.
  struct Ended {
    var holder: Claim.Holder?
    /// Whether an announced end that was not reached has to be forgotten, because another request has to complete the upload.
    /// `false` while a write is under way, because it is not known yet whether the end is reached.
    var leavesEnd = false
    /// Whether there are unverified bytes, which do not count.
    var leavesUnverified = false
  }

  /// Takes the right from its holder. A write under way goes on, and counts.
  mutating func displaced() -> Ended {
    generation += 1
    let ended = Ended(holder: holder, leavesEnd: !isVacant && work != .writing, leavesUnverified: isVerifying)
    seat = .vacant
    return ended
  }

  /// Starts a takeover.
  /// - Returns: the consequences for the last holder, and the claim that waited until now and is superseded.
  mutating func takenOver(by claim: Claim) -> (ended: Ended, superseded: Claim?) {
    let ended = displaced()
    defer { (next, isBroken) = (claim, false) }
    return (ended, next)
  }

  /// Ends the writer of that generation, whether it has the right or waits for it; `nil`: it has ended before.
  mutating func released(_ generation: UInt64) -> Ended? {
    guard self.generation == generation else { return nil }
    next = nil
    return displaced()
  }

  private var holder: Claim.Holder? {
    switch seat {
    case .vacant: nil
    case .reader(let holder), .writer(let holder), .verifier(let holder): holder
    }
  }

  // MARK: The next step

  /// The facts about the upload that the next step depends on.
  struct Facts {
    /// The offset at which the file has to be cut before the next write.
    var cut: UInt64?
    var isFreed = false
    var isOpen = true
    var phase = Phase.takesBytes

    enum Phase: Hashable { case takesBytes, changing, over }
  }

  enum Step {
    case none
    case cut(UInt64)
    case open
    case grant(Claim)
  }

  /// Returns what has to be done now. After ``Step/cut(_:)`` and ``Step/open`` the caller has to call ``settled()``.
  mutating func nextStep(_ facts: Facts) -> Step {
    guard work == .idle else { return .none }
    if let size = facts.cut, !isBroken, !facts.isFreed {
      work = .settling
      return .cut(size)
    }
    // A claim waits while the phase changes, and is granted with the new phase.
    guard let claim = next, facts.phase != .changing else { return .none }
    if !claim.isReadOnly && facts.phase == .takesBytes && !facts.isOpen && !isBroken {
      work = .settling
      return .open
    }
    next = nil
    seat = claim.isReadOnly ? .reader(claim.writer) : .writer(claim.writer)
    return .grant(claim)
  }

  /// Ends the pool's work on the file. `false`: there was none, which would be a mistake in pawl.
  mutating func settled() -> Bool { end(.settling) }

  /// Notes that cutting or opening the file failed.
  mutating func failed() { isBroken = true }

  // MARK: Writing

  /// Whether the writer of that generation still has the right to add bytes.
  func admits(_ generation: UInt64) -> Bool { self.generation == generation && isWritten }

  /// Begins a write. `false`: other work on the file is under way, or no holder may write; both are impossible, since a writer
  /// makes one write at a time.
  mutating func writeBegan() -> Bool {
    guard work == .idle, isWritten else { return false }
    work = .writing
    return true
  }

  enum WriteEnd: Hashable {
    case counts
    /// The write counts, but another request took over meanwhile, on another loop. The write may have been the last one of the
    /// first request.
    case overtaken
    case impossible
  }

  /// Ends the write under way, whose bytes count.
  mutating func writeEnded() -> WriteEnd {
    guard end(.writing) else { return .impossible }
    return isVacant ? .overtaken : .counts
  }

  private mutating func end(_ known: Work) -> Bool {
    guard work == known else { return false }
    work = .idle
    return true
  }

  // MARK: Verifying

  /// Begins a verification: the bytes from now on count only after they are verified. `false`: the caller has no right to write, or
  /// verifies already.
  mutating func verifyingBegan(_ generation: UInt64) -> Bool {
    guard self.generation == generation, case .writer(let holder) = seat else { return false }
    seat = .verifier(holder)
    return true
  }

  /// Lets the verified bytes count; `false`: no bytes were being verified, or they were those of another holder.
  mutating func verified(_ generation: UInt64) -> Bool {
    guard self.generation == generation, isVerifying else { return false }
    verifyingEnded()
    return true
  }

  /// Ends the verification; the holder keeps the right to write.
  mutating func verifyingEnded() {
    if case .verifier(let holder) = seat { seat = .writer(holder) }
  }
}
