import PawlWire
import Testing

@Suite("Refusals") struct RequestRefusalTests {
  @Test("are equal when status and sentence are")
  func equality() {
    let refusal = RequestRefusal(400, "One.")
    #expect(refusal == RequestRefusal(400, "One."))
    #expect(refusal.hashValue == RequestRefusal(400, "One.").hashValue)
    #expect(refusal != RequestRefusal(400, "Two."))
    #expect(refusal != RequestRefusal(431, "One."))
    #expect("\(refusal)" == "400 One.")
  }
}
