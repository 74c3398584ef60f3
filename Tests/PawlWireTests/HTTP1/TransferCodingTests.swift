import Testing

@testable import PawlWire

@Suite("Transfer codings (RFC 9112 §6.1)") struct TransferCodingTests {
  @Test(
    "says what ends the message",
    arguments: [
      ("chunked", TransferCoding.chunked), ("CHUNKED", .chunked), ("gzip, chunked", .otherThenChunked),
      ("a,b ,\tchunked", .otherThenChunked), ("gzip", .notChunkedLast), ("chunked, gzip", .malformed),
      ("chunked, chunked", .malformed), ("chunked, gzip, chunked", .malformed), ("", .malformed), (",", .malformed),
      ("chunked,", .malformed), ("gzip,,chunked", .malformed), ("gzip;q=1, chunked", .malformed),
      ("chun ked", .malformed),
    ])
  func parses(_ value: String, _ coding: TransferCoding) {
    let bytes = latin("x" + value + "y")
    #expect(TransferCoding.parse(bytes.span, 1..<bytes.count - 1) == coding)
  }
}
