import PawlHTTP
import Testing

@testable import PawlUpload

/// Every answer begins with these.
private let own = ["Tus-Resumable: 1.0.0"] + Draft.shield
private func text(_ status: Int, _ lines: [String]) -> String {
  ([String(status)] + own + lines).joined(separator: "\n")
}

@Suite("tus answers (tus 1.0.0)") struct TusDialectTests {
  private let limits = UploadLimits(maxSize: 100)
  private let expiry = "Upload-Expires: Thu, 01 Jan 1970 00:01:40 GMT"

  private func status(_ phase: UploadPhase, _ offset: UInt64 = 5, _ change: (inout UploadFacts) -> Void = { _ in })
    -> UploadFacts
  {
    var status = UploadFacts(offset: offset, length: 9, phase: phase)
    change(&status)
    return status
  }

  @Test("OPTIONS tells version, extensions, size and algorithms")
  func options() {
    let lines = [
      "Tus-Resumable: 1.0.0", "Tus-Version: 1.0.0",
      "Tus-Extension: creation,creation-with-upload,creation-defer-length,expiration,checksum,checksum-trailer,"
        + "termination,concatenation", "Tus-Max-Size: 100", "Tus-Checksum-Algorithm: sha1,md5,crc32,sha256",
    ]
    #expect(
      Draft.text(TusDialect.options(limits).head) == (["200"] + Draft.shield + lines).joined(separator: "\n"))
    #expect(TusDialect.discovery(UploadLimits()).count == 4)
  }

  @Test("a creation is told its URL and how much was taken; a length of zero is not told until the origin answered")
  func created() {
    let location = "/u/1"
    func head(_ status: UploadFacts) -> String {
      Draft.text(TusDialect.created(location: Array(location.utf8), status, limits).head)
    }
    #expect(head(status(.open)) == text(201, ["Location: /u/1", "Upload-Offset: 5"]))
    #expect(head(status(.open) { $0.expires = 100 }) == text(201, ["Location: /u/1", "Upload-Offset: 5", expiry]))
    for phase in [UploadPhase.complete, .forwarding, .sent, .unknown] {
      #expect(head(status(phase, 9) { $0.expires = 100 }) == text(201, ["Location: /u/1"]))
      #expect(
        head(status(phase, 9) { $0.isConcatPartial = true }) == text(201, ["Location: /u/1", "Upload-Offset: 9"]))
    }
    #expect(head(status(.answered, 9)) == text(201, ["Location: /u/1", "Upload-Offset: 9"]))
  }

  @Test("an append is told the new offset, and when the rest is collected")
  func appended() {
    #expect(Draft.text(TusDialect.appended(status(.open), limits).head) == text(204, ["Upload-Offset: 5"]))
    let expiring = status(.open) { $0.expires = 100 }
    #expect(Draft.text(TusDialect.appended(expiring, limits).head) == text(204, ["Upload-Offset: 5", expiry]))
    #expect(TusDialect.appended(expiring, limits).body == [])
  }

  @Test("HEAD of an upload that takes bytes")
  func inspected() {
    func head(_ change: (inout UploadFacts) -> Void) -> String {
      Draft.text(TusDialect.status(status(.open, 0, change), limits).head)
    }
    #expect(head { _ in } == text(200, ["Upload-Offset: 0", "Upload-Length: 9"]))
    #expect(head { $0.length = nil } == text(200, ["Upload-Offset: 0", "Upload-Defer-Length: 1"]))
    #expect(
      head {
        $0.metadata = Array("name YQ==".utf8)
        ($0.concat, $0.isConcatPartial, $0.expires) = (Array("partial".utf8), true, 100)
      }
        == text(
          200,
          [
            "Upload-Offset: 0", "Upload-Length: 9", "Upload-Metadata: name YQ==", "Upload-Concat: partial", expiry,
          ]))
    // A concatenation has no offset before it is done.
    #expect(
      head { ($0.concat, $0.isConcatFinal) = (Array("final;/a".utf8), true) }
        == text(200, ["Upload-Length: 9", "Upload-Concat: final;/a"]))
    #expect(
      head { ($0.concat, $0.isConcatFinal, $0.length) = (Array("final;/a".utf8), true, nil) }
        == text(200, ["Upload-Concat: final;/a"]))
  }

  @Test("HEAD while the origin has not decided gives no offset; of a part it does", arguments: UploadPhase.allCases)
  func phases(_ phase: UploadPhase) {
    let whole = TusDialect.status(status(phase, 9), limits)
    let part = TusDialect.status(status(phase, 9) { $0.isConcatPartial = true }, limits)
    #expect(whole.head.status == expectedStatus(phase))
    #expect(whole.head.fields.contains(.uploadOffset) == (expectedStatus(phase) == 200))
    #expect(whole.head.fields.contains(.retryAfter) == (expectedStatus(phase) == 423))
    #expect(part.head.status == (phase == .invalid || phase == .removed ? 410 : 200))
    for reply in [whole, part] {
      #expect(reply.head.fields.only(.tusResumable)?.text == "1.0.0")
      #expect(reply.head.fields.only(.cacheControl)?.text == "no-store")
    }
  }

  private func expectedStatus(_ phase: UploadPhase) -> Int {
    switch phase {
    case .open, .answered: 200
    case .complete, .forwarding, .sent, .unknown: 423
    case .invalid, .removed: 410
    }
  }

  @Test(
    "HEAD of what the origin took, and of what it refused", arguments: [(200, 200), (303, 200), (400, 410), (502, 410)])
  func answered(_ origin: Int, _ expected: Int) {
    let reply = TusDialect.status(status(.answered, 9) { ($0.originStatus, $0.expires) = (origin, 100) }, limits)
    #expect(reply.head.status == expected)
    #expect(reply.head.fields.all(named: "Pawl-Origin-Status".utf8).map(\.text) == ["\(origin)"])
    #expect(reply.head.fields.first(.uploadOffset)?.text == (expected == 200 ? "9" : nil))
    #expect(!reply.head.fields.contains(.uploadExpires))
  }

  @Test("a cancellation has no content")
  func cancelled() { #expect(Draft.text(TusDialect.cancelled().head) == text(204, [])) }

  private let origin = Draft.fields(
    """
    Content-Type: text/html
    Content-Length: 12
    ETag: "x"
    Location: /documents/1
    Set-Cookie: a=b
    Cache-Control: max-age=60
    Upload-Offset: 3
    Tus-Extension: creation
    X-Content-Type-Options: sniff
    WWW-Authenticate: Basic
    """)

  @Test("2xx and 3xx of the origin become 204, and 201 for the request that made the upload")
  func success() {
    for status in [200, 201, 204, 303] {
      let (head, keepsBody) = TusDialect.answer(
        ResponseHead(status: status, fields: origin), total: 9, location: nil, consumed: true)
      #expect(!keepsBody)
      let rest = ["Upload-Offset: 9", "Pawl-Origin-Status: \(status)"]
      let lines =
        ["204", "Set-Cookie: a=b", "WWW-Authenticate: Basic"] + Draft.shield + ["Tus-Resumable: 1.0.0"] + rest
      #expect(Draft.text(head).split(separator: "\n").sorted() == lines.map { $0[...] }.sorted())
    }
    let (head, keepsBody) = TusDialect.answer(
      ResponseHead(status: 200, fields: origin), total: 9, location: Array("/u/1".utf8), consumed: true)
    #expect(head.status == 201 && !keepsBody)
    #expect(head.fields.all(.location).map(\.text) == ["/u/1"])
    #expect(head.fields.only(.uploadOffset)?.text == "9")
  }

  @Test("other answers go through as they are, consumed or not", arguments: [400, 401, 403, 404, 409, 429, 500, 503])
  func failure(_ status: Int) {
    for consumed in [true, false] {
      let (head, keepsBody) = TusDialect.answer(
        ResponseHead(status: status, fields: origin), total: 9, location: Array("/u/1".utf8), consumed: consumed)
      #expect(head.status == status && keepsBody)
      let lines = [
        "\(status)", "Content-Type: text/html", "Content-Length: 12", "ETag: \"x\"", "Location: /documents/1",
        "Set-Cookie: a=b", "WWW-Authenticate: Basic",
      ]
      #expect(
        Draft.text(head).split(separator: "\n").sorted()
          == (lines + Draft.shield + ["Tus-Resumable: 1.0.0"]).map { $0[...] }.sorted())
    }
  }
}
