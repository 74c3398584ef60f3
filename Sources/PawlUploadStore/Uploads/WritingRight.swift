/// Who waits for the right to add to an upload.
protocol UploadClaim {
  associatedtype Holder
  var writer: Holder { get }
  /// It only looks.
  var isReadOnly: Bool { get }
}

/// Who has the right to add to an upload, who gets it next, and what is done with the file meanwhile. Pure: it knows no file
/// and no loop.
///
/// One flag is left: that cutting or opening failed outlives the work that it happened in, until somebody takes over.
struct WritingRight<Claim: UploadClaim> {
  enum Seat {
    case vacant
    /// It only looks.
    case reader(Claim.Holder)
    case writer(Claim.Holder)
    /// What it brings counts once it is verified.
    case verifier(Claim.Holder)
  }

  /// What keeps others from the file.
  enum Work: Hashable {
    case idle
    /// A `pwrite` is under way on some loop; where the seat is vacant, of one that was overtaken.
    case writing
    /// The pool truncates or opens the file.
    case settling
  }

  private(set) var seat = Seat.vacant
  private(set) var work = Work.idle
  /// Waits until nobody writes.
  private(set) var next: Claim?
  /// Changes with each takeover: a writer of another generation adds nothing.
  private(set) var generation: UInt64 = 0
  /// Cutting or opening failed: who writes now is told so.
  private(set) var isBroken = false

  // MARK: Questions

  var isVacant: Bool { if case .vacant = seat { true } else { false } }
  var isVerifying: Bool { if case .verifier = seat { true } else { false } }
  /// Somebody may add.
  var isWritten: Bool {
    switch seat {
    case .vacant, .reader: false
    case .writer, .verifier: true
    }
  }
  /// Somebody adds, or is about to.
  var isWanted: Bool { next.map { !$0.isReadOnly } ?? isWritten }
  /// Nobody is there or comes, and nothing has to be done first.
  var isCalm: Bool { isVacant && next == nil && work != .settling }

  // MARK: Changing hands

  /// What ended with a holder.
  struct Ended {
    var holder: Claim.Holder?
    /// What it was to complete and has not, another one has to. While a write is under way that is not known.
    var leavesEnd = false
    /// What was being verified does not count.
    var leavesUnverified = false
  }

  /// Takes the right from whoever has it; a write under way goes on, and counts.
  mutating func displaced() -> Ended {
    generation += 1
    let ended = Ended(holder: holder, leavesEnd: !isVacant && work != .writing, leavesUnverified: isVerifying)
    seat = .vacant
    return ended
  }

  /// - Returns: what ended, and who waited and waits no more.
  mutating func takenOver(by claim: Claim) -> (ended: Ended, superseded: Claim?) {
    let ended = displaced()
    defer { (next, isBroken) = (claim, false) }
    return (ended, next)
  }

  /// The writer of that generation ends, whether it has got the right or not; `nil`: it is over for long.
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

  // MARK: What comes first

  /// What has to be known of the upload.
  struct Facts {
    /// The file has to be cut here before anybody writes.
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

  /// What is to be done now. After cutting and opening: ``settled()``.
  mutating func nextStep(_ facts: Facts) -> Step {
    guard work == .idle else { return .none }
    if let size = facts.cut, !isBroken, !facts.isFreed {
      work = .settling
      return .cut(size)
    }
    // Who asks while the phase changes is told what it has become.
    guard let claim = next, facts.phase != .changing else { return .none }
    if !claim.isReadOnly && facts.phase == .takesBytes && !facts.isOpen && !isBroken {
      work = .settling
      return .open
    }
    next = nil
    seat = claim.isReadOnly ? .reader(claim.writer) : .writer(claim.writer)
    return .grant(claim)
  }

  /// The pool is done with the file. `false`: nobody was at it, which is impossible.
  mutating func settled() -> Bool { end(.settling) }

  /// Cutting or opening failed.
  mutating func failed() { isBroken = true }

  // MARK: Writing

  /// Whether the writer of that generation still is one.
  func admits(_ generation: UInt64) -> Bool { self.generation == generation && isWritten }

  /// `false`: somebody is at the file, or nobody may write; who writes does one thing at a time, and so this is impossible.
  mutating func writeBegan() -> Bool {
    guard work == .idle, isWritten else { return false }
    work = .writing
    return true
  }

  enum WriteEnd: Hashable {
    case counts
    /// It may have been the last of a request that was overtaken meanwhile, on another loop.
    case overtaken
    case impossible
  }

  /// The write that was under way counts, with its bytes.
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

  /// What follows counts once it is verified; `false`: who asks has not the right to write, or does so already.
  mutating func verifyingBegan(_ generation: UInt64) -> Bool {
    guard self.generation == generation, case .writer(let holder) = seat else { return false }
    seat = .verifier(holder)
    return true
  }

  /// What was verified counts; `false`: nothing was, or by another one.
  mutating func verified(_ generation: UInt64) -> Bool {
    guard self.generation == generation, isVerifying else { return false }
    verifyingEnded()
    return true
  }

  /// Nothing is verified any more; the right to write stays.
  mutating func verifyingEnded() {
    if case .verifier(let holder) = seat { seat = .writer(holder) }
  }
}
