import Testing

@testable import PawlBase

@Suite("JSON (RFC 8259)") struct JSONValueTests {
  private func content(_ text: String) throws -> JSONValue.Content { try JSONParser.parse(Array(text.utf8)).content }

  @Test("values of every kind are read, with where they begin")
  func values() throws {
    let value = try JSONParser.parse(Array(" {\"a\" : [1, -2.5e+3,\n0] , \"b\":{}, \"c\":[]}\n".utf8))
    #expect(
      value
        == JSONValue(
          place: 1,
          content: .object([
            .init(
              place: 2, name: "a",
              value: JSONValue(
                place: 8,
                content: .array([
                  JSONValue(place: 9, content: .number("1")), JSONValue(place: 12, content: .number("-2.5e+3")),
                  JSONValue(place: 21, content: .number("0")),
                ]))),
            .init(place: 26, name: "b", value: JSONValue(place: 30, content: .object([]))),
            .init(place: 34, name: "c", value: JSONValue(place: 38, content: .array([]))),
          ])))
    #expect(try content("true") == .bool(true) && content("false") == .bool(false) && content("null") == .null)
  }

  @Test(
    "escapes in strings are resolved",
    arguments: [
      (#""""#, ""), (#""aé😀""#, "aé😀"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9""#, "Aé"),
      (#""\ud83d\uDE00""#, "😀"), (#""\u0000""#, "\0"),
    ])
  func strings(_ text: String, _ expected: String) throws { #expect(try content(text) == .string(expected)) }

  @Test(
    "what the grammar does not have is refused where it stands",
    arguments: [
      ("", 0, "the text ends too early"), ("[1,", 3, "the text ends too early"),
      ("{\"a\"", 4, "the text ends too early"),
      ("\"a", 2, "the text ends too early"), ("\"\\", 2, "the text ends too early"),
      ("\"\\u00", 5, "the text ends too early"), ("[1 2]", 3, "a comma or ] is expected"),
      ("[1,]", 3, "a value is expected"), ("{\"a\":1,}", 7, "a name in quotes is expected"),
      ("{\"a\" 1}", 5, "a colon is expected"), ("{\"a\":1]", 6, "a comma or } is expected"),
      ("{a:1}", 1, "a name in quotes is expected"), ("01", 0, "a number must not begin with 0"),
      ("-012", 0, "a number must not begin with 0"), ("1.x", 2, "a digit is expected"),
      ("1ex", 2, "a digit is expected"),
      ("-x", 1, "a value is expected"), ("+1", 0, "a value is expected"), ("nul!", 0, "a value is expected"),
      ("NaN", 0, "a value is expected"), ("1 2", 2, "nothing may follow the value"),
      ("\"\n\"", 1, "a control character must be escaped"), (#""\x""#, 1, "an unknown escape"),
      (#""\u00g0""#, 3, "four hexadecimal digits are expected"), (#""\ud83d""#, 1, "half of a surrogate pair"),
      (#""\ude00""#, 1, "half of a surrogate pair"), (#""\ud83d\u0041""#, 1, "half of a surrogate pair"),
    ])
  func refused(_ text: String, _ place: Int, _ reason: String) {
    #expect(throws: JSONFault(place: place, reason: reason)) { try JSONParser.parse(Array(text.utf8)) }
  }

  @Test("bytes that are not UTF-8 are refused")
  func encoding() {
    #expect(throws: JSONFault(place: 1, reason: "a string must be UTF-8")) {
      try JSONParser.parse([0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d])
    }
  }

  @Test("values are nested up to 32 deep")
  func depth() throws {
    _ = try content(String(repeating: "[", count: 32) + String(repeating: "]", count: 32))
    #expect(throws: JSONFault(place: 32, reason: "values are nested too deep")) {
      try content(String(repeating: "[", count: 100_000))
    }
  }
}
