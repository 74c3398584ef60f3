import PawlCache
import PawlHTTP
import Testing

@Suite("The head of what pawl has compressed") struct CodedHeadTests {
  private func coded(_ lines: [String], in coding: ContentCoding = .brotli) -> Fields {
    var fields = Messages.fields(lines)
    fields.becomeCoded(in: coding)
    return fields
  }

  @Test("says which coding, and that it depends on Accept-Encoding", arguments: ContentCoding.allCases)
  func coding(_ coding: ContentCoding) {
    let expected = ["Content-Type: text/html", "Content-Encoding: \(coding.name)", "Vary: Accept-Encoding"]
    #expect(coded(["Content-Type: text/html"], in: coding) == Messages.fields(expected))
  }

  @Test(
    "Vary is said once, and not beside a star",
    arguments: [
      ([], ["Vary: Accept-Encoding"]), (["Vary: Cookie"], ["Vary: Cookie", "Vary: Accept-Encoding"]),
      (["Vary: accept-encoding"], ["Vary: accept-encoding"]), (["Vary: *"], ["Vary: *"]),
      (["Vary: Cookie, Accept-Encoding"], ["Vary: Cookie, Accept-Encoding"]),
      (["Vary: X-Accept-Encoding"], ["Vary: X-Accept-Encoding", "Vary: Accept-Encoding"]),
    ])
  func vary(_ lines: [String], _ expected: [String]) {
    var fields = Messages.fields(lines)
    fields.addVaryAcceptEncoding()
    #expect(fields == Messages.fields(expected))
  }

  @Test("digests of the other bytes go")
  func digests() {
    let lines = [
      "Repr-Digest: sha-256=:AA==:", "Content-Digest: sha-256=:AA==:", "Digest: sha-256=AA", "Content-MD5: AA",
    ]
    #expect(coded(lines) == coded([]))
  }

  @Test(
    "a strong tag names the other bytes, and becomes weak (RFC 9110 §8.8.1)",
    arguments: [
      ("\"a\"", "W/\"a\""), ("W/\"a\"", "W/\"a\""), ("a", nil), ("", nil),
    ] as [(String, String?)])
  func tag(_ tag: String, _ expected: String?) {
    let shown = coded(["ETag: \(tag)"]).first(.etag).map { String(decoding: $0, as: UTF8.self) }
    #expect(shown == expected)
  }

  @Test("two tags are none") func tags() {
    #expect(!coded(["ETag: \"a\"", "ETag: \"b\""]).contains(.etag))
  }

  @Test("whoever is given the stored one is given its form, with the same times and validators")
  func stored() {
    let head = Messages.stored([Messages.dated("Last-Modified", -100_000), "Cache-Control: max-age=60"])
    let form = head.coded(in: .zstd)
    let request = Messages.request(["Accept-Encoding: gzip"])
    #expect(head.isSelected(by: request, asksIdentity: true) && form.isSelected(by: request, asksIdentity: true))
    #expect(form.status == 200 && form.coding != nil && head.coding == nil)
    #expect((form.requestTime, form.responseTime) == (head.requestTime, head.responseTime))
    #expect(form.validators.date == head.validators.date)
  }
}
