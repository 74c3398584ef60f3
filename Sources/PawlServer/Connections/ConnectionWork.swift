import PawlLoop
import PawlWire

/// What a connection holds while it does something: from a request's head to the end of the answer, and while it ends.
/// An idle one has none of it, which is most of what a connection is made of.
final class ConnectionWork {
  /// So many are kept on a loop for whoever needs one next, with outputs of at most 16 KiB each: as many as a crowd of
  /// requests has in hand at the same time.
  static let sparesLimit = 64

  var request: IncomingRequest?
  var exchange: (any Exchange)?

  // The request's content
  var requestBody: BodyDecoder?
  var requestBodyIsPaused = false
  var requestBodyMeter = RateMeter()
  var lingerBudget = 0

  // The answer's
  var output: [UInt8] = []
  var outputSent = 0
  var source: (any BodySource)?
  var unsentFile: BodyPiece?
  var owed: UInt64?
  var keptBytes = 0

  /// As new, but for the memory of the output.
  func forget() {
    (request, exchange, requestBody, requestBodyIsPaused, lingerBudget) = (nil, nil, nil, false, 0)
    requestBodyMeter.restart()
    output.removeAll(keepingCapacity: true)
    (outputSent, source, unsentFile, owed, keptBytes) = (0, nil, nil, nil, 0)
  }
}
