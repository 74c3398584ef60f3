import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("tus refusals (tus 1.0.0)") struct TusRefusalsTests {
  private let limits = UploadLimits(maxSize: 100)

  @Test(
    "each has its status and what belongs to it",
    arguments: [
      (.malformed("That is nothing."), 400, []), (.unsupportedTusVersion, 412, ["Tus-Version: 1.0.0"]),
      (.notFound, 404, []), (.gone, 410, []), (.wrongOffset(provided: 3), 409, ["Upload-Offset: 5"]),
      (.wrongMediaType, 415, ["Accept-Patch: application/offset+octet-stream"]), (.inconsistentLength, 400, []),
      (.tooLong, 413, []), (.tooLarge, 413, ["Tus-Max-Size: 100"]),
      (.noSpace(retryAfter: 7), 507, ["Retry-After: 7", "Upload-Offset: 5"]),
      (.tooManyUploads(retryAfter: 7), 429, ["Retry-After: 7"]), (.alreadyComplete, 400, []),
      (.digestMismatch, 460, ["Upload-Offset: 5"]),
      (.unknownDigest, 400, ["Tus-Checksum-Algorithm: sha1,md5,crc32,sha256", "Upload-Offset: 5"]),
      (.modifiesFinal, 403, []), (.answerIsAnothers, 403, []), (.unfinishedPart, 400, []),
      (.methodNotAllowed, 405, ["Allow: GET, HEAD, POST, PATCH, DELETE, OPTIONS"]),
      (.undecided(retryAfter: 7), 423, ["Retry-After: 7"]), (.outcomeUnknown, 423, ["Retry-After: 60"]),
      (.storage, 503, ["Retry-After: 5", "Upload-Offset: 5"]), (.ending, 503, ["Retry-After: 1", "Upload-Offset: 5"]),
      (.originSilent(retryAfter: 7), 503, ["Retry-After: 7"]),
    ] as [(UploadRefusal, Int, [String])])
  func table(_ refusal: UploadRefusal, _ status: Int, _ lines: [String]) {
    let own = ["\(status)", "Tus-Resumable: 1.0.0"] + Draft.shield
    let type = ["Content-Type: text/plain; charset=utf-8"]
    let upload = UploadFacts(offset: 5, length: 9)
    let reply = TusDialect.refusal(refusal, upload, limits)
    #expect(Draft.text(reply.head) == (own + lines + type).joined(separator: "\n"))
    #expect(reply.body.last == 0x0a && reply.body.count > 10)
    let strange = TusDialect.refusal(refusal, nil, limits)
    #expect(strange.head.status == status)
    #expect(!strange.head.fields.contains(.uploadOffset))
  }

  @Test("an offset is told only of an upload that takes bytes", arguments: UploadPhase.allCases)
  func offsets(_ phase: UploadPhase) {
    let status = UploadFacts(offset: 9, length: 9, phase: phase)
    let reply = TusDialect.refusal(.wrongOffset(provided: 0), status, limits)
    #expect(reply.head.fields.contains(.uploadOffset) == (phase == .open))
  }

  @Test("the mismatch of a checksum has a name of its own; sentences are the parser's")
  func words() {
    #expect(TusDialect.refusal(.digestMismatch, nil, limits).head.reason.text == "Checksum Mismatch")
    #expect(TusDialect.refusal(.malformed("A b c."), nil, limits).body == Array("A b c.\n".utf8))
  }
}
