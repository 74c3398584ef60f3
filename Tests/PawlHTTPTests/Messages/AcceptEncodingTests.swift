import PawlHTTP
import Testing

@Suite("Accept-Encoding") struct AcceptEncodingTests {
  static let all: [ContentCoding] = [.zstd, .brotli, .gzip]

  private static func choice(_ values: [String], among codings: [ContentCoding] = all) -> ContentCoding? {
    var head = fields(("Accept", "br"), ("TE", "gzip"))
    for value in values { head.append(.acceptEncoding, value) }
    return AcceptEncoding(head).preferred(among: codings)
  }

  @Test("without the field nothing is compressed")
  func absent() { #expect(Self.choice([]) == nil) }

  @Test(
    "the largest weight wins, and of several the first that is available",
    arguments: [
      // As browsers, Safari, curl, wget and Go send it.
      ("gzip, deflate, br, zstd", .zstd), ("gzip, deflate, br", .brotli), ("deflate, gzip, br, zstd", .zstd),
      ("gzip", .gzip), ("identity", nil), ("gzip;q=1.0,deflate;q=0.6,identity;q=0.3", .gzip),
      ("gzip, br;q=0.9, zstd;q=0.8", .gzip), ("gzip;q=0.8, br;q=0.9, zstd;q=0.8", .brotli),
      ("gzip;q=0.001, br;q=0.001", .brotli), ("gzip;q=0.999, br;q=0.998", .gzip), ("gzip;q=1, br;q=1.000", .brotli),
      ("", nil), (",, ,", nil), ("deflate, compress, dcb", nil), ("x-gzip", .gzip), ("X-GZip;Q=0.5", .gzip),
      ("BR", .brotli), ("gzip ; q=0.5", .gzip), ("gzip\t;\tq=0.5 , br;q=0", .gzip),
    ] as [(String, ContentCoding?)])
  func weights(_ value: String, _ expected: ContentCoding?) { #expect(Self.choice([value]) == expected) }

  @Test(
    "what is refused is not taken, and * is all that is not named",
    arguments: [
      ("gzip;q=0", nil), ("gzip;q=0.000, br;q=0.0", nil), ("*", .zstd), ("*;q=0", nil), ("*;q=0.1", .zstd),
      ("zstd;q=0, *", .brotli), ("*, br;q=0, zstd;q=0", .gzip), ("gzip, *;q=0", .gzip), ("gzip, *;q=0.5", .gzip),
      ("gzip;q=0.4, *;q=0.5", .zstd), ("*;q=0, zstd;q=0", nil),
    ] as [(String, ContentCoding?)])
  func refused(_ value: String, _ expected: ContentCoding?) { #expect(Self.choice([value]) == expected) }

  @Test(
    "identity wins only where it was named with the larger weight",
    arguments: [
      ("identity;q=0", nil), ("identity;q=0, gzip;q=0.1", .gzip), ("identity, gzip;q=0.9", nil),
      ("identity, gzip", .gzip), ("identity;q=0.5, gzip;q=0.5", .gzip), ("identity;q=0.5, gzip;q=0.499, br;q=0.2", nil),
      ("IDENTITY;q=0.5, *;q=0.4", nil), ("identity;q=0.5, *;q=0.6", .zstd), ("gzip;q=0.1", .gzip),
      ("identity;q=0, *;q=0", nil), ("identity;q=1, *;q=0", nil),
    ] as [(String, ContentCoding?)])
  func identity(_ value: String, _ expected: ContentCoding?) { #expect(Self.choice([value]) == expected) }

  @Test(
    "a malformed member says nothing, and what stands beside it counts",
    arguments: [
      "br;q=1.001", "br;q=2", "br;q=", "br;q", "br;", "br;q=.5", "br;q=0.1234", "br;q=-1", "br q=1",
      "br;level=1", "br;q=1;x=1", "br;q=\"1\"", "br;q =1", "br;q= 1", "br/1", "\"br\"", "br;;q=1", "b r", "(br)",
    ])
  func malformed(_ member: String) {
    #expect(Self.choice(["\(member), gzip;q=0.2"]) == .gzip)
    #expect(Self.choice(["gzip;q=0.2 ,\(member)"]) == .gzip)
  }

  @Test("all of its lines count; of what is named twice, the smaller weight")
  func lines() {
    #expect(Self.choice(["gzip", "br"]) == .brotli)
    #expect(Self.choice(["gzip, br", "br;q=0"]) == .gzip)
    #expect(Self.choice(["br;q=0", "br, gzip;q=0.1"]) == .gzip)
    #expect(Self.choice(["x-gzip;q=0, gzip"]) == nil)
  }

  @Test("32 members are read, and no more")
  func limit() {
    let others = (1..<AcceptEncoding.longest).map { "x\($0)" }.joined(separator: ",")
    #expect(AcceptEncoding.longest == 32)
    #expect(Self.choice(["\(others), gzip"]) == .gzip)
    #expect(Self.choice(["\(others), x, gzip"]) == nil)
    #expect(Self.choice([others, "x", "gzip"]) == nil)
  }

  @Test("only what is available is chosen")
  func available() {
    #expect(Self.choice(["gzip, br, zstd"], among: []) == nil)
    #expect(Self.choice(["gzip, br, zstd"], among: [.gzip, .zstd]) == .gzip)
    #expect(Self.choice(["gzip, br;q=0.9, zstd"], among: [.brotli]) == .brotli)
    #expect(AcceptEncoding(fields(("accept-encoding", "*, br;q=0"))).accepts(.gzip))
    #expect(!AcceptEncoding(fields(("accept-encoding", "*, br;q=0"))).accepts(.brotli))
  }
}
