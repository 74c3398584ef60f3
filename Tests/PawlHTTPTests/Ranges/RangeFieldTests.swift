import PawlHTTP
import Testing

@Suite("Parsing Range (RFC 9110 §14.1.1, §14.2)") struct RangeFieldTests {
  private static let limit = UInt64(Int64.max)

  @Test(
    "reads what the grammar allows",
    arguments: [
      ("bytes=0-5", [.from(0, through: 5)]),
      ("bytes=7-", [.from(7, through: nil)]),
      ("bytes=-3", [.suffix(3)]),
      ("bytes=-0", [.suffix(0)]),
      ("bytes=5-5", [.from(5, through: 5)]),
      ("bytes=005-0009", [.from(5, through: 9)]),
      ("BYTES=0-5", [.from(0, through: 5)]),
      ("bytes=0-1,5-6", [.from(0, through: 1), .from(5, through: 6)]),
      ("bytes=0-1,,5-6", [.from(0, through: 1), .from(5, through: 6)]),
      ("bytes=0-1 ,\t5-6", [.from(0, through: 1), .from(5, through: 6)]),
      ("bytes=,0-1,", [.from(0, through: 1)]),
      ("bytes= , 0-1", [.from(0, through: 1)]),
      ("bytes=0-0,-1", [.from(0, through: 0), .suffix(1)]),
      (" bytes=0-5 ", [.from(0, through: 5)]),
      ("bytes=0-18446744073709551615", [.from(0, through: limit)]),
      ("bytes=0-9223372036854775807", [.from(0, through: limit)]),
      ("bytes=9223372036854775808-", [.from(limit, through: nil)]),
      ("bytes=99999999999999999999999999-99999999999999999999999999", [.from(limit, through: limit)]),
      ("bytes=-99999999999999999999999999", [.suffix(limit)]),
    ] as [(String, [RangeSpec])])
  func reads(_ text: String, _ specs: [RangeSpec]) {
    #expect(RangeField(fields(("Range", text)))?.specs == specs)
    #expect(RangeField(Bytes(within: text))?.specs == specs)
  }

  @Test(
    "ignores the whole field when anything in it is wrong",
    arguments: [
      "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=0-1,5-2", "bytes 0-5", "bytes:0-5",
      "bytes =0-5", "bytes= 0-5", "bytes=0 -5", "bytes=0- 5", "bytes=0-5 6-7", "bytes=0-5;6-7", "bytes=0-5,x",
      "bytes=--5",
      "bytes=0--5", "bytes=+0-5", "bytes=0-+5", "bytes=0x0-5", "bytes=1.0-5", "bytes=0-5-6", "bytes=5", "bytes=*",
      "bytes=0-\u{665}", "bytes=\u{2010}5",
    ])
  func refuses(_ text: String) {
    #expect(RangeField(fields(("Range", text))) == nil)
    #expect(RangeField(Bytes(within: text)) == nil)
  }

  @Test("ignores other units", arguments: ["lines=0-5", "byte=0-5", "bytesx=0-5", "none=", "seconds=1-2", "=0-5"])
  func otherUnits(_ text: String) { #expect(RangeField(fields(("Range", text))) == nil) }

  @Test("ignores the field when it stands on several lines") func severalLines() {
    #expect(RangeField(fields(("Range", "bytes=0-1"), ("Range", "bytes=5-6"))) == nil)
    #expect(RangeField(fields(("Range", "bytes=0-1"), ("range", "bytes=0-1"))) == nil)
  }

  @Test("is absent without the field, and Request-Range is not it") func absent() {
    #expect(RangeField(fields(("Accept", "*/*"))) == nil)
    #expect(RangeField(fields(("Request-Range", "bytes=0-1"))) == nil)
  }

  @Test(
    "the one range found without allocating is what the field selects",
    arguments: [
      "bytes=0-5", "bytes=7-", "bytes=-3", "bytes=-0", "bytes=9-9", "bytes=0-9", "bytes=0-10", "bytes=10-", "bytes=5-2",
      "bytes=-10", "bytes=-11", "BYTES=1-1", "bytes=0-18446744073709551615", "bytes=-", "bytes=", "lines=0-1",
    ])
  func single(_ text: String) {
    let selection = RangeField(Bytes(within: text)).map { RangeSelection($0, length: 10, maxRanges: 1) }
    var expected: ByteRange?
    if case .single(let range)? = selection { expected = range }
    #expect(RangeField.single(Bytes(within: text), length: 10) == expected)
    #expect(RangeField.single(Bytes(within: text), length: 0) == nil)
  }

  @Test(
    "more than one range, or blanks, are left to the whole reader",
    arguments: ["bytes=0-1,5-6", " bytes=0-1", "bytes=0-1,"])
  func notSingle(_ text: String) { #expect(RangeField.single(Bytes(within: text), length: 10) == nil) }
}
