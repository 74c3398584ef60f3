import PawlCache
import PawlHTTP
import PawlTestKit
import PawlUpstream
import Testing

@testable import PawlServer

@Suite("The request that goes on after a break") struct ResumptionRequestTests {
  private let base = RequestHead(
    method: .get, target: Bytes("/f"), authority: Bytes("site"),
    fields: Fields([
      (.range, "bytes=5-9"), (.range, "bytes=1-2"), (.ifRange, "\"old\""), (.ifNoneMatch, "\"x\""),
      (.ifModifiedSince, today), (.ifMatch, "*"), (.ifUnmodifiedSince, today), (.acceptEncoding, "gzip"),
      (.cookie, "c"),
    ]))

  private func identity(_ coding: String? = nil) -> RepresentationIdentity {
    var head = ResponseHead(status: 200, fields: Fields([(.etag, "\"t\"")]))
    if let coding { head.fields.append(.contentEncoding, coding) }
    return RepresentationIdentity(head: head, framing: .length(100), receivedAt: 0)
  }

  private func sent(
    _ decision: ResumeDecision, through end: UInt64? = nil, of identity: RepresentationIdentity? = nil
  ) -> String {
    ResumptionRequest.head(base, decision, through: end, of: identity).fields.description
      .replacing("\r\n", with: "|")
  }

  @Test("bears no condition that was about the first answer; a replay asks for what was asked for")
  func replay() {
    #expect(sent(.replay(comparing: 50), of: identity()) == "Accept-Encoding: gzip|Cookie: c|")
  }

  @Test("asks for the rest in the coding in which its bytes are counted")
  func rest() {
    let rest = ResumeDecision.askForRest(from: 40, overlap: 5, ifRange: Array("\"t\"".utf8))
    #expect(
      sent(rest, of: identity())
        == "Cookie: c|Range: bytes=40-|If-Range: \"t\"|Accept-Encoding: identity|")
    #expect(
      sent(rest, of: identity("gzip")) == "Accept-Encoding: gzip|Cookie: c|Range: bytes=40-|If-Range: \"t\"|")
    #expect(sent(rest, through: 60, of: identity("gzip")).contains("Range: bytes=40-59|"))
    #expect(sent(rest, through: 100, of: identity("gzip")).contains("Range: bytes=40-|"))
  }

  private static let limit = "--b\r\nContent-Range: bytes 0-9/20000\r\n\r\n0123456789\r\n--b--\r\n"

  @Test(
    "is not made for what is no representation, or has no certain place in one: that ends visibly",
    arguments: ["cache = off", "cache = default"],
    [
      ("206 Partial Content", "Content-Type: multipart/byteranges; boundary=b\r\n", "bytes=0-9,500-509"),
      ("206 Partial Content", "Content-Range: bytes 19900-19999/20000\r\n", "bytes=-100"),
      ("404 Not Found", "", ""), ("203 Changed", "", ""),
    ] as [(String, String, String)])
  func final(_ cache: String, _ row: (status: String, fields: String, range: String)) throws {
    let head =
      "HTTP/1.1 \(row.status)\r\nCache-Control: no-store\r\nETag: \"t\"\r\n\(row.fields)Content-Length: 100\r\n\r\n"
    let cut: [OriginStep] = [.expectHead, .send(head + "some of it")]
    // Where a cache is on, several ranges are asked for as they stand after one of them was.
    let origin = ScriptedOrigin(.tcp, cut, cut)
    let pawl = try TestServer(origin) { $0.site = cache }
    let answer = row.range.isEmpty ? pawl.get() : pawl.get("/f", "Range: \(row.range)")
    #expect(answer.head.hasPrefix("HTTP/1.1 \(row.status)") && !answer.isWhole && answer.text == "some of it")
    #expect(pawl.record(1, "ended_by") == ["origin"])
    let asked = origin.received.map { String(decoding: $0, as: UTF8.self) }
    #expect(!asked.contains { $0.contains("If-Range") })
    pawl.stop()
  }

  @Test(
    "an attempt took too long, brought nothing, or was work for the origin",
    arguments: [
      (ProxyError.Kind.connectionReadTimeout, true, AttemptEnding.tookTooLong),
      (.httpResponseTimeout, true, .tookTooLong), (.connectionWriteTimeout, true, .tookTooLong),
      (.connectionTerminated, true, .brokeOff), (.connectionTerminated, false, .notBegun),
      (.connectionTimeout, false, .notBegun), (.connectionLimitReached, false, .notBegun),
    ])
  func endings(_ kind: ProxyError.Kind, _ isSent: Bool, _ expected: AttemptEnding) {
    let failure = OriginFailure(error: ProxyError(kind), beforeHead: true, requestBytesSent: isSent)
    #expect(AttemptEnding(failure) == expected)
  }

  @Test("an origin that is busy has done no work", arguments: [(429, true), (503, true), (500, false), (504, false)])
  func busy(_ status: Int, _ isBusy: Bool) {
    #expect(AttemptEnding(status: status) == (isBusy ? .notBegun : .brokeOff))
  }
}
