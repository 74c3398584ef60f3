import PawlTestKit
import PawlWire
import Testing

@Suite("Chunked bodies, row by row (Hygiene, \"chunk size\", \"chunk extensions\", \"chunk end\")")
struct ChunkLineTests {
  @Test("decodes or refuses", arguments: rows, Fragmenter.allCases)
  func decodes(_ row: Row, _ fragmenter: Fragmenter) {
    #expect(bodyOutcome(latin(row.input), .chunked, fragmenter) == row.outcome)
  }

  static let rows: [Row] = [
    Row(15, "5\rabcde\r\n0\r\n\r\n", "!"),
    Row(15, "5\r\nabcde\r\n0\r\r\n", "abcde!"),
    Row(16, "5\nabcde\r\n0\r\n\r\n", "!"),
    Row(16, "5\r\nabcde\n0\r\n\r\n", "abcde!"),
    Row(16, "0\n\n", "!"),
    Row(16, "0\r\n\n", "!"),
    Row(16, "0\r\nA: b\n\r\n", "!"),
    Row(33, "5\r\nabcde\r\n0\r\n\r\n", "abcde."),
    Row(33, "5\r\nabcde\r\n1\r\nf\r\n0\r\n\r\nGET", "abcdef.[GET]"),
    Row(33, "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789."),
    Row(33, "\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "0x5\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "+5\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "-1\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "5_0\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, " 5\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "5 \r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "5\t\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "5\u{b}\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "g\r\n", "!"),
    Row(33, "0000000000000005\r\nabcde\r\n0\r\n\r\n", "abcde."),
    Row(33, "00000000000000005\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(33, "7fffffffffffffff\r\nab", "ab…"),
    Row(33, "8000000000000000\r\nab", "!"),
    Row(33, "ffffffffffffffff\r\nab", "!"),
    Row(33, "10000000000000005\r\nab", "!"),
    Row(34, "5;a\r\nabcde\r\n0;b=c\r\n\r\n", "abcde."),
    Row(34, "5;a=b;c=\"d\\\"\u{e9};\t\"\r\nabcde\r\n0\r\n\r\n", "abcde."),
    Row(34, "5 ; a = b ; c\r\nabcde\r\n0\r\n\r\n", "abcde."),
    Row(34, "5;\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a=\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a \r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a=\"b\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a=\"b\nc\"\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a\rb\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a\nb\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;a=\"\\\r\"\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;\u{e9}\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(34, "5;\(String(repeating: "a", count: 255))\r\nabcde\r\n0\r\n\r\n", "abcde."),
    Row(34, "5;\(String(repeating: "a", count: 256))\r\nabcde\r\n0\r\n\r\n", "!"),
    Row(
      34, String(repeating: "1;\(String(repeating: "a", count: 127))\r\nx\r\n", count: 32) + "0\r\n\r\n",
      String(repeating: "x", count: 32) + "."),
    Row(
      34, String(repeating: "1;\(String(repeating: "a", count: 127))\r\nx\r\n", count: 32) + "0;b\r\n\r\n",
      String(repeating: "x", count: 32) + "!"),
    Row(35, "5\r\nabcdef\r\n0\r\n\r\n", "abcde!"),
    Row(35, "5\r\nabcde0\r\n\r\n", "abcde!"),
    Row(35, "5\r\nabcde\rX0\r\n\r\n", "abcde!"),
    Row(36, "5\r\nabcde\r\n", "abcde…"),
    Row(36, "5\r\nabc", "abc…"),
    Row(36, "5\r\nabcde\r\n0\r\n", "abcde…"),
    Row(36, "5\r\nabcde\r\n0\r\nA: b\r\n", "abcde…"),
    Row(37, "0\r\nHost: b\r\nContent-Length: 5\r\nX: y\r\n\r\n", "."),
    Row(37, "0\r\nA : b\r\n\r\n", "!"),
    Row(37, "0\r\n: b\r\n\r\n", "!"),
    Row(37, "0\r\nabc\r\n\r\n", "!"),
    Row(37, "0\r\nA: b\r\n c\r\n\r\n", "!"),
    Row(37, "0\r\nA: \u{0}\r\n\r\n", "!"),
    Row(37, "0\r\nA: b\rc\r\n\r\n", "!"),
  ]
}
