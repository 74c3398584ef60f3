import PawlLoop
import PawlWire

/// The state that a connection has only while it is busy: from a request's head to the end of the answer, and while the
/// connection ends. An idle connection has no such state, because it is most of a connection's memory.
final class BusyState {
  /// The most spare states that a loop keeps for its connections; the output buffer of each has at most 16 KiB. About as many
  /// requests are in progress at once in a burst.
  static let sparesLimit = 64

  /// The initial ``Turn/pieceLimit``, in bytes.
  static let firstPiece = 1 << 20

  /// The state of one request; the state of the next request replaces it completely.
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
    /// The most bytes that the source is asked for at a time. Doubles after each run of a file; falls back to
    /// ``BusyState/firstPiece`` after bytes in memory, or if the source had nothing.
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
