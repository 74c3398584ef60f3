import Testing

@testable import PawlUpload

@Suite("When a completed upload is delivered, and again") struct DeliveryPolicyTests {
  @Test("401, 429 and 503 leave the upload to be completed again; any other answer is final")
  func verdicts() {
    let kept = (200...599).filter { DeliveryPolicy.verdict(status: $0) == .notConsumed }
    #expect(kept == [401, 429, 503])
  }

  @Test("2xx and 303 say that the upload was taken, which is not so before it was sent")
  func taken() {
    #expect((100...599).filter { DeliveryPolicy.saysTaken(status: $0) } == Array(200..<300) + [303])
  }

  @Test(
    "without a client, 429 and 503 are asked again in a minute or when the origin said, 401 is not",
    arguments: [
      (401, nil, nil), (401, 5, nil), (200, nil, nil), (429, nil, 60), (503, nil, 60), (503, 5, 60), (503, -5, 60),
      (429, 61, 61), (503, .max, 86_400),
    ] as [(Int, Int64?, Int64?)])
  func pauses(_ status: Int, _ retryAfter: Int64?, _ seconds: Int64?) {
    let pause = DeliveryPolicy.pauseWithoutClient(status: status, retryAfter: retryAfter)
    #expect(pause == seconds.map(Duration.seconds))
  }

  @Test("what may have taken effect is not repeated unless the route asks for it")
  func breaks() {
    #expect(DeliveryPolicy.afterBreak(sent: false, .atMostOnce) == .again)
    #expect(DeliveryPolicy.afterBreak(sent: true, .atMostOnce) == .unknown)
    #expect(DeliveryPolicy.afterBreak(sent: false, .atLeastOnce) == .again)
    #expect(DeliveryPolicy.afterBreak(sent: true, .atLeastOnce) == .again)
  }

  @Test("a restart goes on from what is recorded")
  func restarts() {
    for phase in UploadPhase.allCases {
      let (once, again) = (
        DeliveryPolicy.afterRestart(phase, .atMostOnce), DeliveryPolicy.afterRestart(phase, .atLeastOnce)
      )
      switch phase {
      case .complete, .forwarding: #expect(once == .complete && again == .complete)
      case .sent: #expect(once == .unknown && again == .complete)
      case .open, .answered, .unknown, .invalid, .removed: #expect(once == phase && again == phase)
      }
    }
  }

  @Test("attempts come further and further apart, at most 15 s")
  func backoff() {
    #expect(
      [-1, 0, 1, 2, 3, 4, 5, 6, 70, .max].map { DeliveryPolicy.backoff(attempt: $0) }
        == [1, 1, 1, 2, 4, 8, 15, 15, 15, 15].map { .seconds($0) })
  }
}
