import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Answers of the drafts (UploadProtocols, \"Versions\", \"One behaviour for all versions\")")
struct IETFDialectTests {
  private let limits = UploadLimits(maxSize: 50, maxAge: 60)

  /// `Upload-Limit` as the version has it.
  private func limit(_ number: Int) -> [String] {
    number < 6
      ? []
      : number == 6 ? ["Upload-Limit: max-size=50, max-age=60, expires=60"] : ["Upload-Limit: max-size=50, max-age=60"]
  }

  private func echo(_ number: Int) -> [String] { Draft.echo(Draft.version(number)) }

  private func completeness(_ number: Int, _ isComplete: Bool) -> String {
    Draft.completeness(Draft.version(number), isComplete)
  }

  private func joined(_ lines: [String]...) -> String { lines.flatMap { $0 }.joined(separator: "\n") }

  @Test("104 names the upload, with limits since version 6", arguments: 3...12)
  func announcement(_ number: Int) {
    let head = UploadReplies.announcement(Draft.version(number), location: Draft.location, limits: limits)
    let expected = joined(
      ["104"], echo(number), ["Location: " + String(decoding: Draft.location, as: UTF8.self)], limit(number))
    #expect(Draft.text(head) == (number == 12 ? "nothing" : expected))
  }

  @Test("progress is told from version 5 on, without a location", arguments: 3...12)
  func progress(_ number: Int) {
    let expected = joined(["104"], echo(number), ["Upload-Offset: 7"])
    let isKnown = (5...11).contains(number)
    #expect(Draft.text(UploadReplies.progress(Draft.version(number), offset: 7)) == (isKnown ? expected : "nothing"))
    let alive = Draft.text(UploadReplies.keepAlive(.ietf(Draft.version(number)), offset: 7))
    #expect(alive == (isKnown ? expected : number == 12 ? "nothing" : "102"))
  }

  @Test("a creation that is not complete: 201, where it is, how far it is", arguments: 3...12)
  func created(_ number: Int) {
    let reply = UploadReplies.created(
      .ietf(Draft.version(number)), location: Draft.location, UploadFacts(offset: 5, length: 9), limits)
    #expect(
      Draft.text(reply.head)
        == joined(
          ["201"], echo(number), [completeness(number, false)], Draft.shield,
          ["Location: " + String(decoding: Draft.location, as: UTF8.self), "Upload-Offset: 5"], limit(number)))
    #expect(reply.body.isEmpty)
  }

  @Test("an append that does not complete: 201 up to version 6, 204 since", arguments: 3...12)
  func appended(_ number: Int) {
    let reply = UploadReplies.appended(.ietf(Draft.version(number)), UploadFacts(offset: 5), limits)
    #expect(
      Draft.text(reply.head)
        == joined(
          [number <= 6 ? "201" : "204"], echo(number), [completeness(number, false)], Draft.shield,
          ["Upload-Offset: 5"], limit(number)))
  }

  @Test("offset retrieval: 204, length and limits since version 6", arguments: 3...12)
  func status(_ number: Int) {
    let known = UploadReplies.status(.ietf(Draft.version(number)), UploadFacts(offset: 0, length: 9), limits)
    #expect(
      Draft.text(known.head)
        == joined(
          ["204"], echo(number), [completeness(number, false)], Draft.shield, ["Upload-Offset: 0"],
          ["Upload-Length: 9"], limit(number)))
    let open = UploadReplies.status(.ietf(Draft.version(number)), UploadFacts(offset: 5), UploadLimits())
    #expect(!open.head.fields.contains(.uploadLength))
    #expect(open.head.fields.first(.uploadLimit)?.text == (number >= 6 ? "min-size=0" : nil))
  }

  @Test("offset retrieval tells completion when there is an answer to be had", arguments: 3...12)
  func completion(_ number: Int) {
    for phase in UploadPhase.allCases {
      for isDelivered in [false, true] {
        var status = UploadFacts(offset: 9, length: 9, phase: phase)
        status.isAnswerDelivered = isDelivered
        status.originStatus = phase == .answered ? 422 : nil
        let head = UploadReplies.status(.ietf(Draft.version(number)), status, limits).head
        let isDecided = phase == .answered || phase == .unknown
        let isTold = isDecided && (number >= 9 || isDelivered)
        #expect(Draft.text(head).contains(completeness(number, isTold) + "\n"))
        let isThere = phase != .invalid && phase != .removed
        #expect(head.status == (isThere ? 204 : 410))
        #expect(head.fields.first(.uploadOffset)?.text == (isThere ? "9" : nil))
        let originStatus = head.fields.combined(named: "Pawl-Origin-Status".utf8)?.text
        #expect(originStatus == (phase == .answered ? "422" : nil))
      }
    }
  }

  @Test("cancellation: 204", arguments: 3...12)
  func cancelled(_ number: Int) {
    let reply = UploadReplies.cancelled(.ietf(Draft.version(number)))
    #expect(Draft.text(reply.head) == joined(["204"], echo(number), Draft.shield))
  }

  @Test("discovery names limits and both kinds of append")
  func discovery() {
    let fields = UploadReplies.discovery(limits)
    #expect(fields.first(.uploadLimit)?.text == "max-size=50, max-age=60")
    #expect(
      fields.combined(named: "accept-patch".utf8)?.text == "application/partial-upload, application/offset+octet-stream"
    )
    #expect(!fields.contains(.uploadDraftInteropVersion))
    #expect(UploadReplies.discovery(limits, version: Draft.version(6)).first(.uploadDraftInteropVersion)?.text == "6")
  }
}

@Suite("The origin's answer in the drafts (UploadProtocols, \"Final response\", \"One behaviour for all versions\")")
struct IETFAnswerTests {
  private func origin(_ status: Int, _ lines: String) -> ResponseHead {
    ResponseHead(status: status, fields: Draft.fields(lines))
  }

  private func answer(_ head: ResponseHead, _ number: Int, location: [UInt8]?, consumed: Bool = true) -> ResponseHead {
    let answer = UploadReplies.answer(
      head, .ietf(Draft.version(number)), total: 9, location: location, consumed: consumed)
    #expect(answer.keepsBody)
    return answer.head
  }

  private func state(_ number: Int, complete: Bool) -> [String] {
    let version = Draft.version(number)
    return Draft.echo(version) + [Draft.completeness(version, complete), "Upload-Offset: 9"]
  }

  @Test("reaches a creation as it is, with what the drafts add", arguments: 3...12, [200, 201, 303, 404, 500])
  func creation(_ number: Int, _ status: Int) {
    let head = origin(status, "Content-Type: text/html\nLocation: /done\nCache-Control: max-age=5\nSet-Cookie: a=b")
    let expected = Draft.text(head).split(separator: "\n").map(String.init) + state(number, complete: true)
    #expect(Draft.text(answer(head, number, location: Draft.location)) == expected.joined(separator: "\n"))
  }

  @Test("names the upload to clients that need it, up to version 6, if the origin named nothing", arguments: 3...12)
  func location(_ number: Int) {
    let head = answer(origin(200, "X: y"), number, location: Draft.location)
    #expect(head.fields.first(.location)?.elementsEqual(Draft.location) == (number <= 6 ? true : nil))
    #expect(head.fields.first(.cacheControl)?.text == (number <= 6 ? "no-store" : nil))
  }

  @Test("on the upload's own URL is nobody else's", arguments: 3...12)
  func append(_ number: Int) {
    let head = answer(
      origin(201, "Cache-Control: max-age=5\nReferrer-Policy: origin\nLocation: /done"), number, location: nil)
    #expect(
      Draft.text(head)
        == (["201", "Location: /done"] + Draft.shield + state(number, complete: true)).joined(separator: "\n"))
  }

  @Test("that leaves the upload to be completed again is not the end, and names the upload", arguments: 3...12)
  func notConsumed(_ number: Int) {
    let head = answer(
      origin(401, "WWW-Authenticate: Bearer\nLocation: /login"), number, location: Draft.location, consumed: false)
    #expect(head.status == 401 && head.fields.count(of: .location) == 1)
    #expect(head.fields.first(.location)?.elementsEqual(Draft.location) == true)
    #expect(Draft.text(head).hasSuffix(state(number, complete: false).joined(separator: "\n")))
    let later = answer(origin(503, "Retry-After: 7"), number, location: nil, consumed: false)
    #expect(later.fields.first(.retryAfter)?.text == "7" && !later.fields.contains(.location))
    #expect(Draft.text(later).hasSuffix(state(number, complete: false).joined(separator: "\n")))
  }

  @Test("says nothing of uploads but what pawl says", arguments: 3...12)
  func doubles(_ number: Int) {
    let lines = """
      Upload-Complete: ?0
      Upload-Incomplete: ?1
      Upload-Offset: 3
      Upload-Draft-Interop-Version: 4
      Upload-Limit: max-size=1
      Tus-Resumable: 1.0.0
      Tus-Version: 1.0.0
      """
    let head = answer(origin(200, lines), number, location: nil)
    #expect(
      Draft.text(head) == (["200"] + Draft.shield + state(number, complete: true)).joined(separator: "\n"))
  }
}
