import Testing

@testable import PawlBench

@Suite("Chunked answers, as the load tester reads them") struct ChunkReaderTests {
  /// The content, and how many bytes the answer took; `nil` when it did not end well.
  private func read(_ text: String, pieces: Int) -> (content: String, count: Int)? {
    var reader = ChunkReader()
    var content: [UInt8] = []
    var taken = 0
    let bytes = Array(text.utf8)
    while taken < bytes.count {
      let piece = Array(bytes[taken..<min(taken + pieces, bytes.count)])
      let step = piece.withUnsafeBufferPointer { reader.next($0, from: 0) }
      switch step {
      case .more: taken += piece.count
      case .content(let start, let count):
        content += piece[start..<start + count]
        taken += start + count
      case .end(let next): return (String(decoding: content, as: UTF8.self), taken + next)
      case .malformed: return nil
      }
    }
    return nil
  }

  @Test("content is found whole and byte by byte", arguments: [1, 2, 3, 1000])
  func content(_ pieces: Int) throws {
    let text = "3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n000\r\nTrailer: t\r\n\r\nHTTP"
    let found = try #require(read(text, pieces: pieces))
    #expect(found.content == "abc0123456789" && found.count == text.utf8.count - 4)
  }

  @Test(
    "what is no chunk is malformed",
    arguments: ["\r\n", "g\r\n", "3\r\nabcd\r\n", "3\nabc", "-1\r\n", "3\r\nabc\n", "1234567890123456\r\n"])
  func malformed(_ text: String) {
    for pieces in [1, 100] { #expect(read(text, pieces: pieces) == nil) }
  }
}
