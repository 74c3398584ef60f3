/// What one transfer has been through since its origin first broke off.
package struct ResumeProgress: Hashable, Sendable {
  /// Attempts that ended without progress, in a row.
  package private(set) var attemptsWithoutProgress = 0
  /// `resume-attempts`: after so many without progress in a row the transfer fails.
  package var attemptLimit: Int
  /// Bytes received only to be compared and dropped, since the last progress.
  package private(set) var replayedBytes: UInt64 = 0
  /// `replay-limit`: a transfer ends after replaying this many times the bytes held.
  package var replayFactor: UInt64
  /// The origin answered a range request in a way that cannot be joined; it is replayed from now on.
  package var originRefusesRanges = false
  /// Where the held bytes ended when progress was last made.
  private var heldAtProgress: UInt64

  /// - Parameter held: where the held bytes end when the origin breaks for the first time.
  package init(held: UInt64, attemptLimit: Int = 10, replayFactor: UInt64 = 20) {
    (heldAtProgress, self.attemptLimit, self.replayFactor) = (held, attemptLimit, replayFactor)
  }

  /// Takes note of an attempt that did not complete the transfer, whatever ended it.
  /// - Parameters:
  ///   - held: where the held bytes end now.
  ///   - replayed: bytes of this attempt that were only compared; 0 for one that asked for the rest.
  ///   - total: the length, when known.
  package mutating func attemptEnded(held: UInt64, replayed: UInt64, total: UInt64?) {
    let wasReplay = replayed > 0
    let (sum, overflow) = replayedBytes.addingReportingOverflow(replayed)
    replayedBytes = overflow ? .max : sum
    let gained = held > heldAtProgress ? held - heldAtProgress : 0
    if gained >= (wasReplay ? Self.replayProgress(total: total ?? held) : 1) {
      (heldAtProgress, attemptsWithoutProgress, replayedBytes) = (held, 0, 0)
    } else {
      attemptsWithoutProgress += 1
    }
  }

  /// How many new bytes a replay has to bring to count: 1 % of the length, or 16 MiB where that is less. Of a length
  /// that is not known, what is held stands for it.
  static func replayProgress(total: UInt64) -> UInt64 { min(max(total / 100, 1), 16 << 20) }
}
