import Testing

@testable import PawlServer

@Suite("Octets that wait in a file are sealed") struct BufferCipherTests {
  @Test(
    "what is read is what was written, however either was cut, and nothing of it shows",
    arguments: [1, 15, 16, 17, 1000])
  func roundTrip(_ piece: Int) throws {
    let cipher = try #require(BufferCipher())
    let octets = (0..<5000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    var sealed: [UInt8] = []
    for start in stride(from: 0, to: octets.count, by: 333) {
      let part = octets[start..<min(start + 333, octets.count)]
      sealed += try #require(part.withUnsafeBytes { cipher.seal($0) })
    }
    #expect(sealed.count == octets.count && zip(sealed, octets).filter { $0 == $1 }.count < 100)
    var opened: [UInt8] = []
    for start in stride(from: 0, to: sealed.count, by: piece) {
      let part = sealed[start..<min(start + piece, sealed.count)]
      opened += try #require(part.withUnsafeBytes { cipher.open($0) })
    }
    #expect(opened == octets)
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
