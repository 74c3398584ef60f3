import PawlBase
import PawlHTTP
import Testing

@Suite("Byte scanner") struct ByteScannerTests {
  /// The result of one step on a text, and what it left unread.
  private func step<Result>(_ text: String, _ take: (inout ByteScanner) -> Result) -> (result: Result, rest: String) {
    var scanner = ByteScanner(Bytes(within: text))
    let result = take(&scanner)
    return (result, scanner.rest.text)
  }

  @Test("a failed step moves nothing") func failures() {
    #expect(step("=a") { $0.token()?.text } == (nil, "=a"))
    #expect(step("=a") { $0.saturatingDecimal() } == (nil, "=a"))
    #expect(step("1a") { $0.decimal(digits: 2) } == (nil, "1a"))
    #expect(step("1") { $0.decimal(digits: 2) } == (nil, "1"))
    #expect(step("=a") { $0.quotedString()?.text } == (nil, "=a"))
    #expect(step("\"a") { $0.quotedString()?.text } == (nil, "\"a"))
    #expect(step("=a") { $0.skip(0x61) } == (false, "=a"))
    #expect(step("") { $0.skip(0x61) } == (false, ""))
    #expect(step("=a") { $0.skip(ignoringCase: "=ab") } == (false, "=a"))
  }

  @Test("reads tokens, numbers and quoted strings") func steps() {
    #expect(step("max-age=5") { $0.token()?.text } == ("max-age", "=5"))
    #expect(step("=5") { $0.skip(0x3d) } == (true, "5"))
    #expect(step("Bytes=") { $0.skip(ignoringCase: "bYTES") } == (true, "="))
    #expect(step("\"a\\\"b\" c") { $0.quotedString()?.text } == ("a\\\"b", " c"))
    #expect(step("123") { $0.decimal(digits: 2) } == (12, "3"))
    #expect(step("12 ") { $0.saturatingDecimal() } == (12, " "))
    #expect(step(" \t a") { $0.skipBlanks() }.rest == "a")
    #expect(step("a") { $0.peek } == (0x61, "a"))
    #expect(step("") { $0.isAtEnd && $0.peek == nil }.result)
  }

  @Test(
    "saturates exactly at Int64.max",
    arguments: [
      ("9223372036854775806", Int64.max - 1), ("9223372036854775807", .max), ("9223372036854775808", .max),
      ("9223372036854775810", .max), ("99999999999999999999", .max),
    ])
  func saturates(_ text: String, _ value: Int64) {
    #expect(step(text) { $0.saturatingDecimal() } == (UInt64(value), ""))
  }

  @Test(
    "lists are split at commas outside quotes",
    arguments: [
      ("a, b", ["a", "b"]), (" a ,,\tb, ", ["a", "b"]), ("a=\"x, y\", b", ["a=\"x, y\"", "b"]),
      ("\"\\\",\", b", ["\"\\\",\"", "b"]),
      ("\"a, b", ["\"a", "b"]), ("a, \"b\\\", c", ["a", "\"b\\\"", "c"]), ("", []), (",", []), ("a", ["a"]),
    ])
  func lists(_ text: String, _ elements: [String]) {
    #expect(Bytes(within: text).listElements.map(\.text) == elements)
  }

  @Test("an open quote costs one look, not one for each element") func openQuotes() {
    let text = "\"" + String(repeating: "\\\",", count: 200_000)
    #expect(Bytes(text).listElements.reduce(0) { count, _ in count + 1 } == 200_000)
  }
}
