import Testing

@testable import PawlServer

@Suite("Bytes that wait in a file are sealed") struct BufferCipherTests {
  @Test(
    "what is read is what was written, however either was cut, and nothing of it shows",
    arguments: [1, 15, 16, 17, 1000])
  func roundTrip(_ piece: Int) throws {
    let cipher = try #require(BufferCipher())
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    var sealed: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 333) {
      let part = bytes[start..<min(start + 333, bytes.count)]
      sealed += try #require(part.withUnsafeBytes { cipher.seal($0) })
    }
    #expect(sealed.count == bytes.count && zip(sealed, bytes).filter { $0 == $1 }.count < 100)
    var opened: [UInt8] = []
    for start in stride(from: 0, to: sealed.count, by: piece) {
      let part = sealed[start..<min(start + piece, sealed.count)]
      opened += try #require(part.withUnsafeBytes { cipher.open($0) })
    }
    #expect(opened == bytes)
  }

  @Test("each has a key of its own")
  func keys() throws {
    let (one, other) = (try #require(BufferCipher()), try #require(BufferCipher()))
    let zeros = [UInt8](repeating: 0, count: 64)
    #expect(zeros.withUnsafeBytes { one.seal($0) } != zeros.withUnsafeBytes { other.seal($0) })
    #expect(
      UnsafeRawBufferPointer(start: nil, count: 0).count == 0
        && one.seal(UnsafeRawBufferPointer(start: nil, count: 0)) == [])
  }
}
