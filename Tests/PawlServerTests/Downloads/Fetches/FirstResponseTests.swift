import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("What the first answer said of a representation") struct FirstResponseTests {
  @Test("is what the identity read off it says, with its length at hand", arguments: [BodyFraming.length(7), .chunked])
  func identity(_ framing: BodyFraming) {
    var head = ResponseHead(status: 200)
    head.fields.append(.etag, "\"v\"")
    head.fields.append(.contentType, "text/plain")
    let now: Int64 = 1_800_000_000
    var answer = FirstResponse(head, framing, receivedAt: now)
    let identity = RepresentationIdentity(head: head, framing: framing, receivedAt: now)
    #expect(answer.total == identity.total)
    let read = answer.identity
    #expect(read == identity)
    var known = FirstResponse(identity)
    let kept = known.identity
    #expect(kept == identity && known.total == identity.total)
    #expect(!answer.isFinal && !known.isFinal)
  }

  @Test("of anything but a representation nothing may follow after a break")
  func final() {
    #expect(FirstResponse(ResponseHead(status: 404), .length(7), receivedAt: 0).isFinal)
    let identity = RepresentationIdentity(head: ResponseHead(status: 200), framing: .length(7), receivedAt: 0)
    #expect(FirstResponse(identity, status: 203).isFinal && FirstResponse.final.isFinal)
    #expect(FirstResponse.final.total == nil)
  }
}
