import Testing

@testable import PawlServer

@Suite("Request content against min-rate") struct MinRateTests {
  @Test("is fast enough at the limit, and not one byte below it")
  func limit() {
    var meter = RateMeter()
    meter.add(1023)
    #expect(!meter.isFastEnough(.default))
    meter.add(1)
    #expect(meter.isFastEnough(.default))
    meter.restart()
    #expect(!meter.isFastEnough(.default))
    #expect(meter.isFastEnough(MinRate(bytes: 0, window: .seconds(1))))
  }
}
