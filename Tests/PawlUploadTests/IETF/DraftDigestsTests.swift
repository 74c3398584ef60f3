import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Digests beside the drafts (RFC 9530)") struct DraftDigestsTests {
  @Test(
    "claims that can be checked are read, the others passed over",
    arguments: [
      ("sha-256=:YWJj:", [DigestClaim(.sha256, Array("abc".utf8))]),
      ("sha-512=:YWI=:, sha-256=:YQ==:", [DigestClaim(.sha512, Array("ab".utf8)), DigestClaim(.sha256, [0x61])]),
      ("sha=:+/8=:, md5=::", [DigestClaim(.sha1, [0xfb, 0xff]), DigestClaim(.md5, [])]),
      ("unixsum=:YWJj:, sha-256=:YWJj:", [DigestClaim(.sha256, Array("abc".utf8))]),
      ("sha-256=\"YWJj\"", []), ("sha-256", []), ("sha-256=(:YWJj:)", []), ("sha-256=:YWJj", []), ("=", []), ("", []),
      ("SHA-256=:YWJj:", []),
    ])
  func claims(_ value: String, _ expected: [DigestClaim]) {
    let head = Draft.request("POST /f", "Content-Digest: \(value)\nRepr-Digest: \(value)")
    let digests = RequestDigests(drafts: head)
    #expect(digests.content == expected)
    #expect(digests.representation == expected)
    #expect(!digests.isInTrailer)
  }

  @Test("several lines are one dictionary")
  func lines() {
    let head = Draft.request("POST /f", "Content-Digest: sha-256=:YWJj:\nContent-Digest: sha-512=:YWJj:")
    #expect(RequestDigests(drafts: head).content.map(\.algorithm) == [.sha256, .sha512])
  }

  @Test("a trailer is waited for only where one is announced and can come")
  func trailers() {
    let chunked = "Transfer-Encoding: chunked\n"
    #expect(RequestDigests(drafts: Draft.request("POST /f", chunked + "Trailer: X-A, content-digest")).isInTrailer)
    #expect(!RequestDigests(drafts: Draft.request("POST /f", chunked + "Trailer: Content-Digests")).isInTrailer)
    #expect(!RequestDigests(drafts: Draft.request("POST /f", "Content-Length: 5\nTrailer: Content-Digest")).isInTrailer)
    let both = chunked + "Trailer: Content-Digest\nContent-Digest: sha-256=:YWJj:"
    #expect(!RequestDigests(drafts: Draft.request("POST /f", both)).isInTrailer)
  }
}
