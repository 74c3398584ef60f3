import PawlHTTP
import PawlWire
import Testing

@Suite("Chunked writer (RFC 9112 §7.1)") struct ChunkedWriterTests {
  @Test(
    "writes sizes in hexadecimal without leading zeros",
    arguments: [
      (1, "1\r\n"), (9, "9\r\n"), (10, "a\r\n"), (15, "f\r\n"), (16, "10\r\n"), (4096, "1000\r\n"),
      (0xdeadbeef, "deadbeef\r\n"), (Int.max, "7fffffffffffffff\r\n"), (0, ""),
    ])
  func sizes(_ count: Int, _ line: String) {
    #expect(ChunkedWriter.header(count) == latin(line))
  }

  @Test("ends with a trailer section, empty or not")
  func last() {
    #expect(ChunkedWriter.last == latin("0\r\n\r\n"))
    var trailers = Fields()
    trailers.append(.reprDigest, "x")
    var output: [UInt8] = []
    ChunkedWriter.appendLast(trailers: trailers, into: &output)
    #expect(output == latin("0\r\nRepr-Digest: x\r\n\r\n"))
  }
}
