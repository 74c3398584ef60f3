/// What ended one attempt to fetch the rest of a body.
package enum AttemptEnding: Hashable, Sendable {
  /// A timeout: the origin was silent too long, before its response or within it.
  case tookTooLong
  /// The origin did no work for the attempt: nothing of the request was sent, or the origin refused a range or was busy.
  case notBegun
  /// Anything else: the connection was closed or reset, or the response was of the wrong kind.
  case brokeOff
}

/// The history of one transfer since its origin first broke off.
package struct ResumeProgress: Hashable, Sendable {
  /// Attempts that ended without progress, in a row.
  package private(set) var attemptsWithoutProgress = 0
  /// `resume-attempts`: the transfer fails after this many attempts in a row without progress.
  package var attemptLimit: Int
  /// The number of bytes, since the last progress, that were only compared with the held bytes and then dropped.
  package private(set) var replayedBytes: UInt64 = 0
  /// `replay-limit`: a transfer fails when ``replayedBytes`` is more than this factor times the number of held bytes.
  package var replayFactor: UInt64
  /// Whether a response of the origin to a range request could not be joined to the held bytes. From then on the body is
  /// replayed.
  package var originRefusesRanges = false
  /// The end of the held bytes when progress was last made.
  private var heldAtProgress: UInt64
  /// The end of the held bytes at a timeout; `nil` once enough new bytes have come after it (``replayProgress(total:)``).
  private var heldAtTimeout: UInt64?
  /// The number of attempts after that timeout that did not bring enough new bytes.
  private var vainRepeats = 0
  /// The number of nodes. After a timeout each node may be asked once more.
  private let nodes: Int

  /// Whether, after a timeout, the number of attempts that brought too few new bytes has reached the number of nodes. Another
  /// request for the complete representation would make the origin repeat the same work for nothing.
  package var isRepeatedInVain: Bool { vainRepeats >= nodes }

  /// - Parameters:
  ///   - held: the end of the held bytes when the origin breaks off for the first time.
  ///   - nodes: the number of the origin's nodes; at least 1.
  package init(held: UInt64, attemptLimit: Int = 10, replayFactor: UInt64 = 20, nodes: Int = 1) {
    (heldAtProgress, self.attemptLimit, self.replayFactor, self.nodes) = (held, attemptLimit, replayFactor, nodes)
  }

  /// Notes that the first attempt begins at `held`, the end of the bytes that are held already, instead of at 0.
  package mutating func began(at held: UInt64) { heldAtProgress = held }

  /// Notes an attempt that did not complete the transfer.
  /// - Parameters:
  ///   - held: where the held bytes end now.
  ///   - replayed: bytes of this attempt that were only compared; 0 if only the rest was requested.
  ///   - total: the length, when known.
  ///   - ending: what ended the attempt.
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

  /// The number of new bytes that make a replay count as progress: 1 % of the length, at most 16 MiB. If the length is unknown,
  /// the number of held bytes is used instead.
  static func replayProgress(total: UInt64) -> UInt64 { min(max(total / 100, 1), 16 << 20) }
}
