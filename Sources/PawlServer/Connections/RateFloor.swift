import PawlWire

/// What follows when the time is over in which a client had to send so much of its request's content (`min-rate`). Pure; of all
/// versions of HTTP.
enum RateFloor: Hashable {
  /// The client is not to blame: it may not send. Its time begins again when it may.
  case waits
  /// It was fast enough, or others held it up: it has the same time once more.
  case goesOn
  /// What came of an upload stays. By any final answer its client would give up; by the end of its connection, or stream, it asks.
  case cut
  /// It is answered by ``refusal``.
  case refuse

  static let end = BodyEnd(party: .client, reason: "min-rate")
  static let refusal = RequestRefusal(408, "The request body arrived more slowly than min-rate allows.")

  /// - Parameters:
  ///   - isHeldBack: pawl takes nothing more of the content for now.
  ///   - othersHoldUp: content of other requests may have used up what the client was allowed to send of this one.
  static func decide(
    _ meter: RateMeter, _ rate: MinRate, isHeldBack: Bool, othersHoldUp: Bool, isUpload: Bool
  ) -> RateFloor {
    if isHeldBack { return .waits }
    if othersHoldUp || meter.isFastEnough(rate) { return .goesOn }
    return isUpload ? .cut : .refuse
  }
}
