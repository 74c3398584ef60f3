import Testing

@testable import PawlServer

@Suite("What is owed of an answer's content") struct OwedContentTests {
  @Test("never more than was announced goes, and less is told at the end")
  func announced() {
    var owed = OwedContent(5)
    var fault = owed.take(3)
    #expect(fault == nil && owed == .bytes(2) && !owed.isPaid && owed.end() == OwedContent.tooShort)
    fault = owed.take(3)
    #expect(fault == OwedContent.tooLong && owed == .bytes(2))
    fault = owed.take(2)
    #expect(fault == nil && owed.isPaid && owed.end() == nil)
    fault = owed.take(0)
    #expect(fault == nil)
    fault = owed.take(1)
    #expect(fault == OwedContent.tooLong)
    owed.giveBack(2)
    #expect(owed == .bytes(2))
  }

  @Test("without a length there is as much as there is")
  func unknown() {
    var owed = OwedContent(nil)
    let fault = owed.take(.max)
    owed.giveBack(1)
    #expect(fault == nil && owed == .unknown && !owed.isPaid && owed.end() == nil)
  }
}
