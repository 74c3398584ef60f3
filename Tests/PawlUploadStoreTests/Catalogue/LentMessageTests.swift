import PawlHTTP
import PawlUpload
import Testing

@testable import PawlUploadStore

@Suite("What two processes tell each other about lent deliveries") struct LentMessageTests {
  private static let id = UploadID(high: 1, low: .max)

  private static func answer(_ body: [UInt8] = Array("hello".utf8), status: Int = 201) -> UploadAnswer {
    var fields = Fields()
    fields.append(.location, "/files/1")
    fields.append(named: Array("X-Odd".utf8), [0xff, 0x20])
    return UploadAnswer(
      status: status, reason: Array("Made".utf8), fields: fields, body: body, isTruncated: false, at: -5,
      keepFor: .seconds(7))
  }

  private static var full: LentStep {
    var step = LentStep(id, .answered)
    (step.attempts, step.lastError, step.nextAttempt, step.giveUpAt) = (3, "late \u{e9}", 17, .min)
    (step.answerUntil, step.originStatus, step.credentials) = (.max, 201, [0, 255])
    (step.answer, step.why) = (answer(), "")
    step.refusal = UploadLastRefusal(attempt: 3, answer: answer([], status: 401))
    return step
  }

  private static var messages: [LentMessage] {
    let steps = LentStep.events.map { event -> LentStep in
      var step = LentStep(id, event)
      if event == .answered { step.answer = answer([]) }
      return step
    }
    return (steps + [full]).map { .step(.max, $0) }
      + [.delivered(id), .recorded(0, true), .recorded(1, false)]
  }

  @Test("is read as it was written")
  func roundTrip() {
    for message in Self.messages { #expect(LentMessage(serialized: message.serialize()) == message) }
  }

  @Test("is refused when cut, continued, or of another kind; never trapped over")
  func malformed() {
    for message in Self.messages {
      let bytes = message.serialize()
      for count in bytes.indices { #expect(LentMessage(serialized: Array(bytes.prefix(count))) == nil) }
      #expect(LentMessage(serialized: bytes + [0]) == nil)
      for index in bytes.indices {
        var changed = bytes
        changed[index] ^= 0xff
        if let other = LentMessage(serialized: changed) { #expect(other != message) }
      }
    }
    for kind in [UInt8(0), 4, 255] {
      #expect(LentMessage(serialized: [kind] + [UInt8](repeating: 0, count: 16)) == nil)
    }
    // A final answer without the answer.
    #expect(LentMessage(serialized: LentMessage.step(1, LentStep(Self.id, .answered)).serialize()) == nil)
    // An event that cannot be lent.
    #expect(LentMessage(serialized: LentMessage.step(1, LentStep(Self.id, .removed)).serialize()) == nil)
  }

  @Test("content at the limit is passed on, one byte more is like content beyond response-max", arguments: [0, 1])
  func longBody(_ excess: Int) throws {
    var step = LentStep(Self.id, .answered)
    step.answer = Self.answer([UInt8](repeating: 1, count: LentMessage.largestBody + excess))
    let read = try #require(LentMessage(serialized: LentMessage.step(1, step).serialize()))
    guard case .step(1, let got) = read, let answer = got.answer else { return #expect(Bool(false)) }
    #expect(answer.body.count == (excess == 0 ? LentMessage.largestBody : 0) && answer.isTruncated == (excess == 1))
    #expect(answer.status == 201 && answer.fields == step.answer?.fields)
  }

  @Test("the list is read as it was written; a wrong count, a rest, or the same upload twice is refused")
  func lists() {
    let ids = Set((0..<20).map { UploadID(high: $0, low: $0 * 3) })
    for list in [[], [Self.id], ids] { #expect(LentMessage.list(LentMessage.serialize(list: list)) == list) }
    let bytes = LentMessage.serialize(list: ids)
    for count in bytes.indices { #expect(LentMessage.list(Array(bytes.prefix(count))) == nil) }
    #expect(LentMessage.list(bytes + [0]) == nil)
    #expect(LentMessage.list(bytes + [UInt8](repeating: 0, count: 16)) == nil)
    let one = LentMessage.serialize(list: [Self.id])
    var twice = one + one[8...]
    twice[7] = 2
    #expect(LentMessage.list(twice) == nil)
  }

  @Test("a refusal is passed on with the attempt that it ended, not later")
  func refusals() {
    var row = UploadRow(at: 0, phase: .complete)
    row.attempts = 2
    row.credentials = [1]
    for (attempt, isPassed) in [(1, false), (2, true), (3, false)] {
      let step = LentStep(
        Self.id, .attemptFailed, row, refusal: UploadLastRefusal(attempt: attempt, answer: Self.answer()))
      #expect((step.refusal != nil) == isPassed && step.credentials == nil)
    }
    #expect(LentStep(Self.id, .answered, row).credentials == [1])
  }
}
