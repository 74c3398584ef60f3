import PawlHTTP
import Testing

@Suite("multipart/byteranges (RFC 9110 §14.6)") struct MultipartRangesTests {
  private func body(_ parts: MultipartRanges, of content: String) -> String {
    let bytes = Array(content.utf8)
    var body: [UInt8] = []
    for (index, range) in parts.ranges.enumerated() {
      body += parts.head(of: index) + bytes[Int(range.first)..<Int(range.end)]
    }
    return (body + parts.closing).text
  }

  @Test("writes the whole body, and its length is known before") func whole() throws {
    let parts = MultipartRanges(
      ranges: [try range(0, 1), try range(8, 9)], total: 10, contentType: Bytes("text/plain"),
      boundary: Array("B0".utf8))
    let expected =
      "\r\n--B0\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\nab"
      + "\r\n--B0\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\nij" + "\r\n--B0--\r\n"
    #expect(body(parts, of: "abcdefghij") == expected)
    #expect(parts.length == UInt64(expected.utf8.count))
    #expect(parts.contentType.text == "multipart/byteranges; boundary=B0")
  }

  @Test("keeps the order of the ranges and leaves out a type nobody knows") func order() throws {
    let parts = MultipartRanges(
      ranges: [try range(8, 9), try range(0, 0)], total: 10, contentType: nil, boundary: Array("x".utf8))
    let expected =
      "\r\n--x\r\nContent-Range: bytes 8-9/10\r\n\r\nij\r\n--x\r\nContent-Range: bytes 0-0/10\r\n\r\na\r\n--x--\r\n"
    #expect(body(parts, of: "abcdefghij") == expected)
    #expect(parts.length == UInt64(expected.utf8.count))
  }
}
