import PawlLoop
import PawlWire

/// The state that a connection has only while it is busy: from a request's head to the end of the answer, and while the
/// connection ends. It is most of a connection's memory; an idle connection has none.
final class BusyState {
  /// The number of spare states that a loop keeps for its connections, with outputs of at most 16 KiB each. It is about the
  /// number of requests that a burst has in progress at once.
  static let sparesLimit = 64

  /// The initial ``Turn/pieceLimit``, in bytes.
  static let firstPiece = 1 << 20

  /// The state of one request; the next one replaces it as a whole.
  struct Turn {
    var request: IncomingRequest?
    var exchange: (any Exchange)?

    // The request's content
    var content = IncomingContent.none
    var meter = RateMeter()
    var lingering = Lingering(budget: UnwantedContent.limit)

    // The answer
    var outputSent = 0
    var source: (any BodySource)?
    var unsentFile: BodyPiece?
    /// Bytes asked of the source at a time. Doubles as long as the source returns runs of a file at once; stays small for content
    /// that it waits for or copies.
    var pieceLimit = BusyState.firstPiece
    var owed = OwedContent.unknown
    var keptBytes = 0
  }

  @exclusivity(unchecked) var turn = Turn()
  var output: [UInt8] = []

  /// Resets everything; the output keeps its capacity.
  func forget() {
    turn = Turn()
    output.removeAll(keepingCapacity: true)
  }
}
