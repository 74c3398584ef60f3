import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Checksums (tus 1.0.0, checksum and checksum-trailer)") struct RequestDigestsTests {
  private func outcome(_ value: String) -> Result<[DigestClaim], UploadRefusal> {
    do throws(UploadRefusal) {
      return .success(try RequestDigests(tus: Draft.request("PATCH /u", "Upload-Checksum: \(value)")).content)
    } catch { return .failure(error) }
  }

  @Test(
    "of the announced algorithms",
    arguments: [
      ("sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=", DigestAlgorithm.sha1, 20), ("md5 XUFAKrxLKna5cZ2REBfFkg==", .md5, 16),
      ("sha256 LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=", .sha256, 32),
    ])
  func known(_ value: String, _ algorithm: DigestAlgorithm, _ count: Int) throws {
    let claims = try outcome(value).get()
    #expect(claims.map(\.algorithm) == [algorithm])
    #expect(claims.first?.value.count == count)
  }

  @Test("of CRC-32 the highest byte comes first")
  func crc32() { #expect(outcome("crc32 NhCmhg==") == .success([DigestClaim(.crc32, [0x36, 0x10, 0xa6, 0x86])])) }

  @Test("what is announced is what is known")
  func announced() {
    for name in TusDialect.checksumAlgorithms.split(separator: ",") {
      #expect(outcome("\(name) AA=") != .failure(.unknownDigest), "\(name)")
    }
  }

  @Test("another algorithm is told from a value that is none")
  func refused() {
    for value in ["sha512 AA==", "SHA1 AA==", "sha-256 AA==", "crc32c NhCmhg==", "x y"] {
      #expect(outcome(value) == .failure(.unknownDigest), "\(value)")
    }
    let hex = "sha1 MmFhZTZjMzVjOTRmY2ZiNDE1ZGJlOTVmNDA4YjljZTkxZWU4NDZlZA=="
    for value in [
      "", "sha1", "sha1 ", "sha1 !", "sha1 AA==", "sha1  NhCmhg==", "crc32 NhCmhg", "crc32 NhCmhg== x", hex,
    ] {
      guard case .failure(.malformed) = outcome(value) else {
        Issue.record("\(value)")
        continue
      }
    }
    guard case .failure(.malformed) = outcome("crc32 NhCmhg==\nUpload-Checksum: crc32 NhCmhg==") else {
      return #expect(Bool(false))
    }
  }

  @Test("a trailer is waited for where one is announced and can come")
  func announcement() throws {
    let announced = "Trailer: X, upload-checksum\n"
    #expect(try RequestDigests(tus: Draft.request("PATCH /u", announced + "Transfer-Encoding: chunked")).isInTrailer)
    #expect(try !RequestDigests(tus: Draft.request("PATCH /u", announced + "Content-Length: 5")).isInTrailer)
    #expect(try !RequestDigests(tus: Draft.request("PATCH /u", "Transfer-Encoding: chunked")).isInTrailer)
  }

  @Test("trailers: tus insists on what was announced, the drafts pass over it")
  func trailers() throws {
    let fields = Draft.fields("Upload-Checksum: crc32 NhCmhg==\nContent-Digest: sha-256=:YWJj:")
    #expect(try RequestDigests.trailerClaims(fields, .tus) == [DigestClaim(.crc32, [0x36, 0x10, 0xa6, 0x86])])
    #expect(
      try RequestDigests.trailerClaims(fields, .ietf(.final)) == [DigestClaim(.sha256, Array("abc".utf8))])
    #expect(try RequestDigests.trailerClaims(Fields(), .ietf(.final)) == [])
    #expect(throws: UploadRefusal.self) { try RequestDigests.trailerClaims(Fields(), .tus) }
    #expect(throws: UploadRefusal.unknownDigest) {
      try RequestDigests.trailerClaims(Draft.fields("Upload-Checksum: sha3 AA=="), .tus)
    }
  }
}
