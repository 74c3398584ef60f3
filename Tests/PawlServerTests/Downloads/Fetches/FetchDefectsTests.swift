import PawlCache
import PawlHTTP
import PawlObserve
import Testing

@testable import PawlServer

@Suite("Defects of an origin, as its responses to resumptions show them") struct FetchDefectsTests {
  private let identity = RepresentationIdentity(
    head: Self.head(200, [(.etag, "\"v1\"")]), framing: .length(100), receivedAt: 0)

  private static func head(_ status: Int, _ fields: [(FieldName, String)]) -> ResponseHead {
    var head = ResponseHead(status: status)
    head.fields = Fields(fields)
    return head
  }

  private func defect(
    _ status: Int, _ fields: [(FieldName, String)], asked: ResumeDecision? = nil, isOtherNode: Bool = false
  ) -> OriginDefect? {
    let asked = asked ?? .askForRest(from: 40, overlap: 10, ifRange: Array("\"v1\"".utf8))
    let head = Self.head(status, fields)
    let verdict = judgeContinuation(
      asked: asked, identity: identity, answer: head, framing: .chunked, isOtherNode: isOtherNode)
    return OriginDefect(head, asked: asked, verdict, of: identity, isOtherNode: isOtherNode)
  }

  @Test("a range of unchanged bytes that is answered with all of them")
  func ignored() {
    #expect(defect(200, [(.etag, "\"v1\"")]) == .rangeIgnored)
    // Other bytes, bytes that may be others, and bytes of another node are no defect.
    #expect(defect(200, [(.etag, "\"v2\"")]) == nil)
    #expect(defect(200, []) == nil)
    #expect(defect(200, [(.etag, "\"v1\"")], isOtherNode: true) == nil)
    // The whole was asked for.
    #expect(defect(200, [(.etag, "\"v1\"")], asked: .replay(comparing: 50)) == nil)
  }

  @Test("a range that is another than the one that was asked for")
  func shifted() {
    #expect(defect(206, [(.etag, "\"v1\""), (.contentRange, "bytes 40-99/100")]) == nil)
    #expect(defect(206, [(.etag, "\"v1\""), (.contentRange, "bytes 41-99/100")]) == .rangeShifted)
    #expect(defect(206, [(.etag, "\"v1\"")]) == .rangeShifted)
    #expect(defect(206, [(.etag, "\"v2\""), (.contentRange, "bytes 40-99/100")]) == nil)
  }

  @Test("a busy or missing origin has no defect", arguments: [304, 404, 412, 416, 503])
  func others(_ status: Int) { #expect(defect(status, []) == nil) }

  @Test(
    "each word for a break has its counter",
    arguments: [
      ("connection_terminated", .resumedAfterReset), ("http_response_incomplete", .resumedAfterEarlyEnd),
      ("ended-early", .resumedAfterEarlyEnd), ("connection_read_timeout", .resumedAfterTimeout),
      ("connection_refused", .resumedAfterConnect), ("tls_protocol_error", .resumedAfterTLS),
      ("status-503", .resumedAfterStatus), ("content-differs-before-9", .resumedAfterDifference),
      ("other-length", .resumedAfterDifference), ("http_protocol_error", .resumedAfterOther), ("?", .resumedAfterOther),
    ] as [(String, LoopCounter)])
  func words(_ word: String, _ counter: LoopCounter) { #expect(FetchBreak.counter(of: word) == counter) }
}
