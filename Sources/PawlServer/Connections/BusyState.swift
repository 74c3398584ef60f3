import PawlLoop
import PawlWire

/// The state that a connection has only while it is busy: from a request's head to the end of the answer, and while the
/// connection ends. An idle connection has no such state, because the state is the largest part of a connection's memory.
final class BusyState {
  /// The most spare states that a loop keeps for its connections; the output buffer of each has at most 16 KiB. In a burst,
  /// about this number of requests are in progress at once.
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
    /// The most bytes that the source is asked for at a time. It is doubled each time the source returns a run of a file; each
    /// time the source returns anything else, it is ``BusyState/firstPiece`` again.
    var pieceLimit = BusyState.firstPiece
    var owed = OwedContent.unknown
    var keptBytes = 0
    /// How often it was looked whether the client has acknowledged the answer.
    var looks: UInt8 = 0
  }

  @exclusivity(unchecked) var turn = Turn()
  var output: [UInt8] = []

  /// Resets everything; the output keeps its capacity.
  func forget() {
    turn = Turn()
    output.removeAll(keepingCapacity: true)
  }
}
