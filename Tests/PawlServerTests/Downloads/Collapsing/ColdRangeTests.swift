import PawlCache
import PawlHTTP
import Testing

@testable import PawlServer

@Suite("A range of something unknown") struct ColdRangeTests {
  typealias Line = (FieldName, String)
  private static let date = "Mon, 13 Nov 2023 00:00:00 GMT"
  private static let all = UInt64(Int64.max)

  private func shown(_ cold: ColdRange) -> [String] {
    cold.fields.map { "\($0.0.spelling): \(String(decoding: $0.1, as: UTF8.self))" }
  }

  @Test("is asked for with aligned borders, beside the conditions that can be the origin's")
  func asked() {
    let minted = String(decoding: EntityTag(strong: AnswerTags.mint()).bytes, as: UTF8.self)
    let rows: [([Line], Range<UInt64>?, [String])] = [
      ([], nil, []), ([(.accept, "a/b")], nil, []),
      ([(.range, "bytes=0-0")], 0..<65_536, ["range: bytes=0-65535"]),
      ([(.range, "bytes=65536-65536")], 65_536..<131_072, ["range: bytes=65536-131071"]),
      ([(.range, "bytes=70000-")], 65_536..<Self.all, ["range: bytes=65536-"]),
      ([(.range, "bytes=-5")], 0..<Self.all, ["range: bytes=-5"]),
      ([(.range, "bytes=0-9223372036854775807")], 0..<Self.all, ["range: bytes=0-"]),
      ([(.range, "bytes=1-2,70000-70001")], 0..<65_536, ["range: bytes=0-65535"]),
      ([(.range, "lines=1-2")], nil, []),
      ([(.range, "bytes=0-0"), (.ifRange, "\"a\"")], 0..<65_536, ["range: bytes=0-65535"]),
      ([(.range, "bytes=0-0"), (.ifRange, Self.date)], 0..<65_536, ["range: bytes=0-65535"]),
      ([(.range, "bytes=0-0"), (.ifRange, "W/\"a\"")], nil, []),
      ([(.range, "bytes=0-0"), (.ifRange, "nonsense")], nil, []),
      ([(.range, "bytes=0-0"), (.ifRange, minted)], nil, []),
      ([(.ifNoneMatch, "\"a\"")], nil, ["if-none-match: \"a\""]),
      ([(.ifNoneMatch, minted)], nil, []),
      ([(.ifNoneMatch, "*")], nil, []),
      ([(.ifModifiedSince, Self.date)], nil, ["if-modified-since: \(Self.date)"]),
      ([(.ifNoneMatch, "\"a\""), (.ifModifiedSince, Self.date)], nil, ["if-none-match: \"a\""]),
      (
        [(.ifNoneMatch, "\"a\""), (.range, "bytes=0-0")], 0..<65_536,
        ["if-none-match: \"a\"", "range: bytes=0-65535"]
      ),
    ]
    for (index, row) in rows.enumerated() {
      let cold = ColdRange(Fields(row.0), mayAskForRange: true)
      #expect(cold.range == row.1, "row \(index)")
      #expect(shown(cold).map { $0.lowercased() } == row.2.map { $0.lowercased() }, "row \(index)")
      #expect(ColdRange(Fields(row.0), mayAskForRange: false).range == nil, "row \(index)")
    }
  }

  @Test("of a wider part the client gets what it asked for")
  func cut() throws {
    let part = try #require(ByteRange(first: 10, last: 99))
    func cut(_ range: String) -> ByteRange? {
      ColdRange.cut(part, total: 1000, for: Fields([(.range, range)]), maxRanges: 16)
    }
    #expect(cut("bytes=20-29") == ByteRange(first: 20, last: 29))
    #expect(cut("bytes=0-19") == ByteRange(first: 10, last: 19))
    #expect(cut("bytes=90-") == ByteRange(first: 90, last: 99))
    #expect(cut("bytes=100-") == nil && cut("bytes=0-0,500-500") == nil && cut("bytes=2000-") == nil)
    #expect(ColdRange.cut(part, total: 1000, for: Fields(), maxRanges: 16) == nil)
  }

  @Test("whether the answer is what the client holds a part of")
  func conditions() {
    let answer = ResponseHead(
      status: 200,
      fields: Fields([(.etag, "\"a\""), (.lastModified, Self.date), (.date, "Mon, 20 Nov 2023 00:00:00 GMT")]))
    let now: Int64 = 1_800_000_000
    let rows: [(ifRange: String?, holds: Bool)] = [
      (nil, true), ("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), (Self.date, true), ("nonsense", false),
      ("Tue, 14 Nov 2023 00:00:00 GMT", false),
    ]
    for row in rows {
      let asked = Fields((row.ifRange.map { [(.ifRange, $0)] } ?? []) + [(.range, "bytes=5-")])
      #expect(ColdRange.ifRangeHolds(asked, for: answer, now: now) == row.holds, "\(row)")
      #expect(
        ColdRange.isProvenUncoded(asked, for: answer, now: now) == (row.holds && row.ifRange != nil),
        "\(row)")
      var coded = answer
      coded.fields.append(.contentEncoding, "gzip")
      #expect(!ColdRange.isProvenUncoded(asked, for: coded, now: now))
    }
  }
}
