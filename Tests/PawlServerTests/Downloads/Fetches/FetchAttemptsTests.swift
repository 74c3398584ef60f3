import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("The attempts of a fetch") struct FetchAttemptsTests {
  private func identity(_ fields: [(FieldName, String)]) -> RepresentationIdentity {
    RepresentationIdentity(
      head: ResponseHead(status: 200, fields: Fields(fields)), framing: .length(100_000), receivedAt: 0)
  }

  @Test("after a break the rest is asked for by the strong tag, and without one all of it again")
  func rest() {
    var tagged = FetchAttempts(attemptLimit: 3, replayFactor: 20)
    tagged.ended("connection_terminated", .brokeOff)
    let next = tagged.next(held: 50_000, spanStart: 0, prefix: 0, identity: identity([(.etag, "\"a\"")]))
    guard case .askForRest = next else { return #expect(Bool(false), "\(next)") }
    var plain = FetchAttempts(attemptLimit: 3, replayFactor: 20)
    plain.ended("connection_terminated", .brokeOff)
    let again = plain.next(held: 50_000, spanStart: 0, prefix: 0, identity: identity([]))
    if case .askForRest = again { #expect(Bool(false), "\(again)") }
    if case .giveUp = again { #expect(Bool(false), "\(again)") }
  }

  @Test("an origin that refuses ranges is not asked for one again, and that was no attempt")
  func refused() {
    var attempts = FetchAttempts(attemptLimit: 1, replayFactor: 20)
    attempts.rangesWereRefused()
    let next = attempts.next(held: 50_000, spanStart: 0, prefix: 0, identity: identity([(.etag, "\"a\"")]))
    #expect(attempts.progress.originRefusesRanges)
    if case .askForRest = next { #expect(Bool(false), "\(next)") }
    if case .giveUp = next { #expect(Bool(false), "\(next)") }
  }

  @Test("without progress they have an end, and what came again counts for one attempt only")
  func end() {
    var attempts = FetchAttempts(attemptLimit: 2, replayFactor: 20)
    var last: ResumeDecision?
    for _ in 0..<3 {
      attempts.ended("connection_terminated", .brokeOff)
      attempts.replayed = 7
      last = attempts.next(held: 50_000, spanStart: 0, prefix: 0, identity: identity([(.etag, "\"a\"")]))
      #expect(attempts.replayed == 0)
    }
    guard case .giveUp? = last else { return #expect(Bool(false), "\(String(describing: last))") }
  }
}
