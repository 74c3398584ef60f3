import PawlHTTP
import PawlLoop
import PawlObserve
import Testing

@testable import PawlServer

@Suite("A transfer as the access log tells it") struct AccessRecordRequestTests {
  @Test("takes all that the exchange noted")
  func whole() throws {
    let bench = try ServerBench()
    let request = bench.request(.head, "/f?q", [(.referer, "ref"), (.userAgent, "agent")])
    request.record.status = 206
    request.record.bytesSent = 10
    request.record.bytesFromCache = 3
    request.record.bytesFromOrigin = 1
    request.record.cacheOutcome = .partial
    request.record.upstream = "app"
    request.record.end = BodyEnd(party: .origin, reason: "changed: other-tag")
    (request.tally.received, request.tally.resumed, request.tally.replayed) = (7, 4, 2)
    request.tally.resumes = 1
    let end = request.record.began.advanced(by: .microseconds(1500))
    let record = AccessRecord(request, version: .http10, now: end, wall: 99)
    #expect(record.time == 99 && record.remote == Bytes("192.0.2.9"))
    #expect(record.method == Bytes("HEAD") && record.target == Bytes("/f?q") && record.host == Bytes("site"))
    #expect(String(describing: record.version) == "HTTP/1.0")
    #expect(record.status == 206 && record.bytes == 10 && record.durationMicros == 1500)
    #expect(record.referer == Bytes("ref") && record.userAgent == Bytes("agent"))
    #expect(record.requestID == Bytes("made-up") && record.site == "default" && record.upstream == "app")
    #expect(record.cacheOutcome == "partial" && record.bytesFromCache == 3 && record.bytesFromOrigin == 8)
    #expect(record.bytesResumed == 4 && record.bytesReplayed == 2 && record.originResumes == 1)
    #expect(record.endedBy == .origin && record.endReason == "changed: other-tag")
  }

  @Test("nobody ended what is complete")
  func done() throws {
    let record = AccessRecord(try ServerBench().request(), version: .http11, now: Monotonic(nanoseconds: 0), wall: 0)
    #expect(record.endedBy == .done && record.endReason == nil && record.durationMicros == 0)
    #expect(String(describing: record.version) == "HTTP/1.1")
  }

  @Test("what was no request has a status and an address")
  func refused() {
    let record = AccessRecord(refused: 400, bytes: 12, Bytes("::1"), wall: 5)
    #expect(record.status == 400 && record.bytes == 12 && record.remote == Bytes("::1") && record.method.isEmpty)
    #expect(record.requestLine == nil)
    #expect(record.endedBy == .client && record.endReason == "refused")
  }
}
