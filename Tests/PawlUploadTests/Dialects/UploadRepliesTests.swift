import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Upload replies, both protocols") struct UploadRepliesTests {
  @Test("tus is never sent a 1xx")
  func interims() { #expect(UploadReplies.keepAlive(.tus, offset: 5) == nil) }

  @Test("a client of the drafts is never told completeness in two ways")
  func completeness() {
    for version in Draft.versions {
      let status = UploadFacts(offset: 5, length: 9)
      let replies = [
        UploadReplies.created(.ietf(version), location: Draft.location, status, UploadLimits()).head,
        UploadReplies.appended(.ietf(version), status, UploadLimits()).head,
        UploadReplies.status(.ietf(version), status, UploadLimits()).head,
        UploadReplies.refusal(.gone, .ietf(version), nil, UploadLimits()).head,
        UploadReplies.answer(
          ResponseHead(status: 200), .ietf(version), total: 9, location: nil, consumed: true
        ).head,
      ]
      for head in replies {
        #expect(head.fields.count(of: version.completenessField) == 1)
        #expect(!head.fields.contains(version.otherCompletenessField))
      }
    }
  }

  @Test("discovery is of both protocols")
  func discovery() {
    let fields = UploadReplies.discovery(UploadLimits())
    let tus = TusDialect.discovery(UploadLimits())
    #expect(fields.first(.uploadLimit)?.text == "min-size=0")
    #expect(tus.lines.allSatisfy { line in fields.all(named: tus.name(line)).contains(tus.value(line)) })
  }
}
