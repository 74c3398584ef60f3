import PawlWire

/// The decision at the end of a time window in which the client sent request content (`min-rate`). Without side effects; for all
/// versions of HTTP.
enum RateFloor: Hashable {
  /// No decision: pawl holds the content back. A new window begins when the client may send again.
  case waits
  /// The client was fast enough, or other requests may have delayed its content: a new window begins.
  case goesOn
  /// Ends the connection or the stream without an answer. Used for uploads: the part that came is kept, and the client can ask
  /// for the offset and go on. After a final response the client would give up.
  case cut
  /// Answers with ``refusal``.
  case refuse

  static let end = BodyEnd(party: .client, reason: "min-rate")
  static let refusal = RequestRefusal(408, "The request body arrived more slowly than min-rate allows.")

  /// - Parameters:
  ///   - isHeldBack: whether pawl reads no more of the content for now.
  ///   - othersHoldUp: whether the content of other requests may have used up the flow-control credit that this request needed
  ///     (HTTP/2).
  static func decide(
    _ meter: RateMeter, _ rate: MinRate, isHeldBack: Bool, othersHoldUp: Bool, isUpload: Bool
  ) -> RateFloor {
    if isHeldBack { return .waits }
    if othersHoldUp || meter.isFastEnough(rate) { return .goesOn }
    return isUpload ? .cut : .refuse
  }
}
