import PawlLoop
import PawlWire

/// What a connection holds while it is busy: from a request's head to the end of the answer, and while it ends.
/// An idle one has none of it, which is most of what a connection is made of.
final class BusyState {
  /// So many are kept on a loop for whoever needs one next, with outputs of at most 16 KiB each: as many as a crowd of
  /// requests has in hand at the same time.
  static let sparesLimit = 64

  /// The first of ``Turn/pieceLimit``.
  static let firstPiece = 1 << 20

  /// What belongs to one request: replaced as a whole by the next.
  struct Turn {
    var request: IncomingRequest?
    var exchange: (any Exchange)?

    // The request's content
    var content = IncomingContent.none
    var meter = RateMeter()
    var lingering = Lingering(budget: UnwantedContent.limit)

    // The answer's
    var outputSent = 0
    var source: (any BodySource)?
    var unsentFile: BodyPiece?
    /// Bytes that the source is asked for at a time: twice as many as before, as long as it gives runs of a file at once. What
    /// it has to wait for, or copies, stays short.
    var pieceLimit = BusyState.firstPiece
    var owed = OwedContent.unknown
    var keptBytes = 0
  }

  @exclusivity(unchecked) var turn = Turn()
  var output: [UInt8] = []

  /// As new, but for the memory of the output.
  func forget() {
    turn = Turn()
    output.removeAll(keepingCapacity: true)
  }
}
