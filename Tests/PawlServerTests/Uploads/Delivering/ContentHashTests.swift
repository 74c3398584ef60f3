import PawlUpload
import Testing

@testable import PawlServer

@Suite("Digests of content") struct ContentHashTests {
  private func digest(_ algorithm: DigestAlgorithm, _ pieces: [[UInt8]]) -> String {
    let hash = ContentHash(algorithm)
    for piece in pieces { piece.withUnsafeBytes { hash.update($0) } }
    return hash.finish().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(
    "are those that the world knows",
    arguments: [
      (DigestAlgorithm.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"), (.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (.crc32, "352441c2"),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
          + "454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ])
  func known(_ algorithm: DigestAlgorithm, _ expected: String) {
    #expect(digest(algorithm, [Array("abc".utf8)]) == expected)
    #expect(digest(algorithm, [Array("a".utf8), [], Array("bc".utf8)]) == expected)
  }

  @Test("a CRC is the same however the content is cut")
  func crc() {
    let check = Array("123456789".utf8)
    #expect(digest(.crc32, [check]) == "cbf43926" && digest(.crc32, []) == "00000000")
    let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let whole = digest(.crc32, [content])
    for cut in [1, 7, 8, 9, 15, 16, 500, 993] {
      #expect(digest(.crc32, [Array(content[..<cut]), Array(content[cut...])]) == whole, "cut at \(cut)")
    }
  }
}
