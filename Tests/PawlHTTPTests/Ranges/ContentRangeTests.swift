import PawlHTTP
import Testing

@Suite("Content-Range (RFC 9110 §14.4)") struct ContentRangeTests {
  @Test(
    "reads satisfied ranges",
    arguments: [
      ("bytes 0-4/10", 0, 4, 10), ("bytes 9-9/10", 9, 9, 10), ("bytes 0-4/*", 0, 4, nil), ("Bytes 0-4/10", 0, 4, 10),
      (
        "bytes 9223372036854775806-9223372036854775806/9223372036854775807", .init(Int64.max) - 1, .init(Int64.max) - 1,
        .init(Int64.max)
      ),
    ] as [(String, UInt64, UInt64, UInt64?)])
  func satisfied(_ text: String, _ first: UInt64, _ last: UInt64, _ total: UInt64?) throws {
    let expected = ContentRange.Satisfied(range: try range(first, last), total: total)
    #expect(ContentRange.parse(Bytes(within: text)) == .satisfied(expected))
  }

  @Test(
    "reads unsatisfied ones",
    arguments: [("bytes */10", 10), ("bytes */0", 0), ("bytes */*", nil)] as [(String, UInt64?)])
  func unsatisfied(_ text: String, _ total: UInt64?) {
    #expect(ContentRange.parse(Bytes(within: text)) == .unsatisfied(total: total))
  }

  @Test(
    "refuses what must not be combined",
    arguments: [
      "", "bytes", "bytes ", "bytes 0-4", "bytes 0-4/", "bytes 4-0/10", "bytes 0-10/10", "bytes 0-4/4", "bytes 0-0/0",
      "bytes=0-4/10", "bytes  0-4/10", "bytes 0 -4/10", "bytes 0-4 /10", "bytes 0-4/ 10", "bytes -4/10", "bytes 0-/10",
      "bytes a-b/c", "bytes +0-4/10", "bytes 0-4/-1", "bytes 0-4/10, bytes 5-9/10", "lines 0-4/10", "bytes 0-4/10/10",
      "bytes 0-18446744073709551615/*", "bytes 0-99999999999999999999/*", "bytes 0-4/99999999999999999999",
    ])
  func refuses(_ text: String) { #expect(ContentRange.parse(Bytes(within: text)) == nil) }

  @Test("writes what it reads") func writes() throws {
    #expect(ContentRange.format(try range(0, 4), total: 10).text == "bytes 0-4/10")
    #expect(ContentRange.unsatisfied(total: 10).text == "bytes */10")
  }
}
