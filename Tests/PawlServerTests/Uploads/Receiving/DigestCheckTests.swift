import PawlHTTP
import PawlUpload
import Testing

@testable import PawlServer

@Suite("Content held against its digests") struct DigestCheckTests {
  private let abc = Array("abc".utf8)
  /// SHA-1 and CRC-32 of `abc`.
  private let sha1: [UInt8] = [
    0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8,
    0x9d,
  ]
  private let crc32: [UInt8] = [0x35, 0x24, 0x41, 0xc2]

  private func verdict(
    _ claims: [DigestClaim], inTrailer: Bool = false, _ trailers: [(FieldName, String)] = []
  ) -> UploadRefusal?? {
    var digests = RequestDigests()
    (digests.content, digests.isInTrailer) = (claims, inTrailer)
    guard let check = DigestCheck(digests, .tus) else { return .none }
    abc.withUnsafeBytes { check.update($0) }
    return .some(check.verdict(Fields(trailers)))
  }

  @Test("content without digests is not checked")
  func none() { #expect(verdict([]) == .none) }

  @Test("every digest has to be right")
  func claims() {
    let (good, other) = (DigestClaim(.sha1, sha1), DigestClaim(.crc32, crc32))
    #expect(verdict([good]) == .some(nil) && verdict([good, other]) == .some(nil))
    #expect(verdict([DigestClaim(.sha1, crc32)]) == .some(.digestMismatch))
    #expect(verdict([good, DigestClaim(.md5, [])]) == .some(.digestMismatch))
  }

  @Test("a digest may come behind the content, and then has to")
  func trailer() {
    #expect(verdict([], inTrailer: true, [(.uploadChecksum, "crc32 NSRBwg==")]) == .some(nil))
    #expect(verdict([], inTrailer: true, [(.uploadChecksum, "crc32 NSRBwQ==")]) == .some(.digestMismatch))
    let missing = verdict([], inTrailer: true)
    #expect(missing != .none && missing != .some(nil) && missing != .some(.digestMismatch))
  }
}
