import Testing

@testable import PawlBench

@Suite("Content for uploads") struct UploadBodyTests {
  @Test("repeats its block; pieces end where it begins again")
  func pieces() {
    let body = UploadBody(block: Array("abc".utf8), size: 8)
    func piece(_ offset: UInt64, _ limit: UInt64) -> String {
      body.withBytes(at: offset, atMost: limit) { String(decoding: $0, as: UTF8.self) }
    }
    #expect(piece(0, 8) == "abc" && piece(4, 8) == "bc" && piece(7, 1) == "b" && piece(2, 0) == "")
    #expect(body.digestText == UploadBody(block: Array("abcabcab".utf8), size: 8).digestText)
    #expect(body.digestText != UploadBody(block: Array("abcabcac".utf8), size: 8).digestText)
  }

  @Test("is the same for the same seed")
  func seeds() {
    #expect(UploadBody(size: 100, seed: 1).block == UploadBody(size: 100, seed: 1).block)
    #expect(UploadBody(size: 100, seed: 1).block != UploadBody(size: 100, seed: 2).block)
    #expect(UploadBody(size: 100, seed: 1).block.count == 100)
    #expect(UploadBody(size: 0, seed: 1).digestText == "2d06800538d394c2")
    #expect(HashText.hexadecimal(0xab) == "00000000000000ab")
  }
}
