/// What ended an attempt to get the rest of a body.
package enum AttemptEnding: Hashable, Sendable {
  /// The origin was silent for longer than it may be, before its answer or in it.
  case tookTooLong
  /// The origin has done no work for it: nothing of the request was sent, or it refused a range, or said that it is busy.
  case notBegun
  /// Anything else: a connection that was closed or reset, an answer of the wrong kind.
  case brokeOff
}

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
  /// Where they ended when an answer last took too long; `nil` once there was as much progress since as counts for a replay.
  private var heldAtTimeout: UInt64?
  /// How often it was asked again since, and brought no progress either.
  private var vainRepeats = 0
  /// How many nodes there are: after an answer that took too long each may be asked once more.
  private let nodes: Int

  /// The origin took too long, was asked once more, and that brought no progress either. Asking it for the whole again
  /// would let it do the same work again, for nothing.
  package var isRepeatedInVain: Bool { vainRepeats >= nodes }

  /// - Parameters:
  ///   - held: where the held bytes end when the origin breaks for the first time.
  ///   - nodes: how many nodes the origin has; at least 1.
  package init(held: UInt64, attemptLimit: Int = 10, replayFactor: UInt64 = 20, nodes: Int = 1) {
    (heldAtProgress, self.attemptLimit, self.replayFactor, self.nodes) = (held, attemptLimit, replayFactor, nodes)
  }

  /// The first attempt begins here, not at 0: where the bytes end that are held already.
  package mutating func began(at held: UInt64) { heldAtProgress = held }

  /// Takes note of an attempt that did not complete the transfer, whatever ended it.
  /// - Parameters:
  ///   - held: where the held bytes end now.
  ///   - replayed: bytes of this attempt that were only compared; 0 for one that asked for the rest.
  ///   - total: the length, when known.
  ///   - ending: what ended it.
  package mutating func attemptEnded(
    held: UInt64, replayed: UInt64, total: UInt64?, ending: AttemptEnding = .brokeOff
  ) {
    noteTimeouts(held, ending, enough: Self.replayProgress(total: total ?? held))
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

  private mutating func noteTimeouts(_ held: UInt64, _ ending: AttemptEnding, enough: UInt64) {
    if let start = heldAtTimeout {
      if held > start, held - start >= enough {
        (heldAtTimeout, vainRepeats) = (nil, 0)
      } else if ending != .notBegun {
        vainRepeats += 1
      }
    }
    if ending == .tookTooLong, heldAtTimeout == nil { heldAtTimeout = held }
  }

  /// How many new bytes a replay has to bring to count: 1 % of the length, or 16 MiB where that is less. Of a length
  /// that is not known, what is held stands for it.
  static func replayProgress(total: UInt64) -> UInt64 { min(max(total / 100, 1), 16 << 20) }
}
