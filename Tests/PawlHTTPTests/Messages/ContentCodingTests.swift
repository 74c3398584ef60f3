import PawlHTTP
import Testing

@Suite("Content codings") struct ContentCodingTests {
  @Test(
    "are known by their names, in any case",
    arguments: [
      ("gzip", .gzip), ("GZip", .gzip), ("x-gzip", .gzip), ("X-GZIP", .gzip), ("br", .brotli), ("BR", .brotli),
      ("zstd", .zstd), ("ZStd", .zstd), ("", nil), ("b", nil), ("bro", nil), ("brotli", nil), ("deflate", nil),
      ("identity", nil), ("gzip ", nil), ("dcb", nil),
    ] as [(String, ContentCoding?)])
  func names(_ name: String, _ coding: ContentCoding?) {
    #expect(ContentCoding(name: Bytes(within: name)) == coding)
  }

  @Test("have a name that is read as themselves, and a byte of their own in keys")
  func keys() {
    for coding in ContentCoding.allCases { #expect(ContentCoding(name: Bytes("\(coding.name)")) == coding) }
    #expect([nil, .gzip, .brotli, .zstd].map(\ContentCoding?.keyByte) == [0, 1, 2, 3])
  }
}
