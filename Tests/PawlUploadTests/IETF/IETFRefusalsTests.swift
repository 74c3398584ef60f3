import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Refusals in the drafts (UploadProtocols, \"Problem types\")") struct IETFRefusalsTests {
  private static let base = "https://iana.org/assignments/http-problem-types#"
  private let limits = UploadLimits(maxSize: 50)

  private func refusal(_ refusal: UploadRefusal, _ number: Int, _ status: UploadFacts? = nil) -> UploadReply {
    UploadReplies.refusal(refusal, .ietf(Draft.version(number)), status, limits)
  }

  /// Each refusal: status, whether an upload's offset is told, what further fields there are, the problem's type.
  static let rows: [(UploadRefusal, Int, Bool, [String], String)] = [
    (.malformed("No."), 400, true, [], "about:blank"), (.unsupportedTusVersion, 412, true, [], "about:blank"),
    (.notFound, 404, false, [], "about:blank"), (.gone, 410, false, [], "about:blank"),
    (.wrongOffset(provided: 3), 409, true, [], base + "mismatching-upload-offset"),
    (.wrongMediaType, 415, true, ["Accept-Patch: application/partial-upload"], "about:blank"),
    (.inconsistentLength, 400, true, ["Upload-Limit"], base + "inconsistent-upload-length"),
    (.tooLong, 400, false, ["Upload-Limit"], base + "inconsistent-upload-length"),
    (.tooLarge, 413, true, ["Upload-Limit"], "about:blank"),
    (.noSpace(retryAfter: 30), 507, true, ["Retry-After: 30", "Upload-Limit"], "about:blank"),
    (.tooManyUploads(retryAfter: 9), 429, true, ["Retry-After: 9", "Upload-Limit"], "about:blank"),
    (.digestMismatch, 400, true, [], "about:blank"), (.unknownDigest, 400, true, [], "about:blank"),
    (.answerIsAnothers, 403, true, [], "about:blank"),
    (.modifiesFinal, 403, true, [], "about:blank"), (.unfinishedPart, 400, true, [], "about:blank"),
    (.methodNotAllowed, 405, true, ["Allow: GET, HEAD, PATCH, DELETE, OPTIONS"], "about:blank"),
    (.undecided(retryAfter: 12), 503, true, ["Retry-After: 12"], "about:blank"),
    (.storage, 503, true, ["Retry-After: 5"], "about:blank"),
    (.ending, 503, true, ["Retry-After: 1"], "about:blank"),
  ]

  @Test("have their status, their fields and a problem, and leave the upload open", arguments: 3...12)
  func table(_ number: Int) {
    let version = Draft.version(number)
    for (refusal, status, tellsOffset, further, type) in Self.rows {
      let limit = number >= 6 ? ["Upload-Limit: max-size=50"] : []
      let furtherLines = further.flatMap { $0 == "Upload-Limit" ? limit : [$0] }
      let start = ["\(status)"] + Draft.echo(version) + [Draft.completeness(version, false)] + Draft.shield
      let end = furtherLines + ["Content-Type: application/problem+json"]
      let reply = self.refusal(refusal, number, UploadFacts(offset: 7, phase: .complete))
      let offset = tellsOffset ? ["Upload-Offset: 7"] : []
      #expect(Draft.text(reply.head) == (start + offset + end).joined(separator: "\n"))
      #expect(Draft.text(self.refusal(refusal, number).head) == (start + end).joined(separator: "\n"))
      #expect(String(decoding: reply.body, as: UTF8.self).hasPrefix("{\"type\":\"\(type)\",\"title\":\""))
      #expect(String(decoding: reply.body, as: UTF8.self).contains("\"status\":\(status)"))
    }
  }

  @Test("a wrong offset names the right one", arguments: 3...12)
  func offsets(_ number: Int) {
    let reply = refusal(.wrongOffset(provided: 3), number, UploadFacts(offset: 7))
    #expect(
      String(decoding: reply.body, as: UTF8.self) == """
        {"type":"\(Self.base)mismatching-upload-offset","title":"The upload goes on elsewhere","status":409,\
        "expected-offset":7,"provided-offset":3}

        """)
  }

  @Test("content for a complete upload is refused as the version says", arguments: 3...12)
  func complete(_ number: Int) {
    let reply = refusal(.alreadyComplete, number, UploadFacts(offset: 7, phase: .answered))
    #expect(reply.head.status == (number == 8 ? 410 : 400))
    let type = number <= 8 ? Self.base + "completed-upload" : "about:blank"
    #expect(String(decoding: reply.body, as: UTF8.self).hasPrefix("{\"type\":\"\(type)\""))
    #expect(Draft.text(reply.head).contains("\nUpload-Offset: 7\n"))
    #expect(Draft.text(reply.head).contains(Draft.completeness(Draft.version(number), false)))
  }

  @Test("an outcome that nobody knows ends the upload and says so", arguments: 3...12)
  func unknown(_ number: Int) {
    let reply = refusal(.outcomeUnknown, number, UploadFacts(offset: 7, phase: .unknown))
    #expect(reply.head.status == 502)
    #expect(Draft.text(reply.head).contains(Draft.completeness(Draft.version(number), true)))
    #expect(Draft.text(reply.head).contains("\nUpload-Offset: 7\n"))
    #expect(
      String(decoding: reply.body, as: UTF8.self).contains(
        "may have got the request, and no answer to the whole of it came"))
  }

  @Test("no offset is told of an upload that will not go on")
  func lost() {
    for phase in [UploadPhase.invalid, .removed] {
      let reply = refusal(.malformed("No."), 9, UploadFacts(offset: 7, phase: phase))
      #expect(!reply.head.fields.contains(.uploadOffset))
    }
  }
}
