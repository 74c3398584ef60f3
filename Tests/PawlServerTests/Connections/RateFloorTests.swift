import Testing

@testable import PawlServer

@Suite("Request content that comes too slowly") struct RateFloorTests {
  private static let rate = MinRate(bytes: 10, window: .seconds(1))

  /// What follows for a transfer that passes through, and for an upload.
  private func decide(_ bytes: Int, isHeldBack: Bool, othersHoldUp: Bool) -> [RateFloor] {
    var meter = RateMeter()
    meter.add(bytes)
    return [false, true].map {
      .decide(meter, Self.rate, isHeldBack: isHeldBack, othersHoldUp: othersHoldUp, isUpload: $0)
    }
  }

  @Test("an upload is cut and keeps what came, anything else is refused, and nobody who is not to blame")
  func table() {
    for bytes in [0, 9, 10, 11] {
      let isFast = bytes >= 10
      #expect(
        decide(bytes, isHeldBack: false, othersHoldUp: false) == (isFast ? [.goesOn, .goesOn] : [.refuse, .cut]))
      #expect(decide(bytes, isHeldBack: false, othersHoldUp: true) == [.goesOn, .goesOn])
      for others in [false, true] {
        #expect(decide(bytes, isHeldBack: true, othersHoldUp: others) == [.waits, .waits])
      }
    }
  }

  @Test("what the client and the log are told")
  func words() {
    #expect(RateFloor.refusal.status == 408)
    #expect("\(RateFloor.refusal.reason)" == "The request body arrived more slowly than min-rate allows.")
    #expect(RateFloor.end == BodyEnd(party: .client, reason: "min-rate"))
  }
}
