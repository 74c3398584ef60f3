import PawlHTTP
import Testing

@Suite("Age (RFC 9111 §5.1)") struct AgeTests {
  @Test(
    "the first value counts, nonsense is 0, nothing exceeds 2^31",
    arguments: [
      (["7200"], 7200), ([], 0), ([""], 0), (["abc"], 0), (["-7200"], 0), (["7200.0"], 0),
      (["2147483647"], 2_147_483_647),
      (["2147483648"], 2_147_483_648), (["2147483649"], 2_147_483_648), (["99999999999999999999"], 2_147_483_648),
      (["7200, 0"], 7200), (["0, 7200"], 0), (["7200", "0"], 7200), (["0", "7200"], 0), (["3600", "3600"], 3600),
      (["7200;foo=bar"], 0), ([" 5 "], 5),
    ] as [([String], Int64)])
  func parses(_ lines: [String], _ seconds: Int64) {
    var message = Fields()
    for line in lines { message.append(.age, line) }
    #expect(Age.parse(message) == seconds)
  }
}
