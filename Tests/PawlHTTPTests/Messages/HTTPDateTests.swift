import PawlHTTP
import Testing

@Suite("HTTP dates (RFC 9110 §5.6.7)") struct HTTPDateTests {
  @Test(
    "reads all three formats",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("Wed Nov 16 08:49:37 1994", 784_975_777),
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
      ("Tue, 19 Jan 2038 14:14:08 GMT", 2_147_523_248),
      ("Sun, 21 Nov 2286 04:46:39 GMT", 10_000_039_599),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878),
      ("Thu Aug  8 02:01:18 2050", 2_543_536_878),
    ] as [(String, Int64)])
  func reads(_ text: String, _ seconds: Int64) {
    #expect(HTTPDate.parse(Bytes(within: text)) == seconds)
    #expect(HTTPDate.parse(Bytes(within: text), now: 1_795_000_000) == seconds)
  }

  @Test(
    "compares names without case (RFC 9111 §4.2)",
    arguments: ["THU, 18 Aug 2050 02:01:18 GMT", "Thu, 18 AUG 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 gMT"])
  func ignoresCase(_ text: String) { #expect(HTTPDate.parse(Bytes(text)) == 2_544_400_878) }

  @Test(
    "refuses everything else",
    arguments: [
      "", " ", "0", "-1", "784111777", "now", "GMT",
      "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST", "Thu, 18 Aug 2050 02:01:18 +0000",
      "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug  2050 02:01:18 GMT",
      "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
      "Thu, 8 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:00:00 GMT", "Thu, 18 Aug 2050 02:60:18 GMT",
      "Thu, 18 Aug 2050 02:01:61 GMT", "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 32 Aug 2050 02:01:18 GMT",
      "Thu, 31 Apr 2050 02:01:18 GMT", "Mon, 29 Feb 2100 02:01:18 GMT", "Tue, 30 Feb 2000 02:01:18 GMT",
      "Thu, 18 Foo 2050 02:01:18 GMT", "Foo, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ",
      " Thu, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT, x", "Thu, 18 Aug 2050 02:01:18",
      "Thu, +8 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:1\u{660} GMT", "Thu, 18 Aug -050 02:01:18 GMT",
      "Thursday, 18 Aug 50 02:01:18 GMT", "Thursday, 18-Aug-2050 02:01:18 GMT", "Thursday, 29-Feb-50 02:01:18 GMT",
      "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94", "Sun Nov  0 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
    ])
  func refuses(_ text: String) {
    #expect(HTTPDate.parse(Bytes(within: text)) == nil)
    #expect(HTTPDate.parse(Bytes(within: text), now: 1_795_000_000) == nil)
  }

  @Test(
    "puts a two-digit year at most 50 years ahead",
    arguments: [
      // now, text, expected
      // 1795000000 is 2026-11-18 11:06:40
      (1_795_000_000, "Wednesday, 18-Nov-76 11:06:40 GMT", 3_372_923_200),  // 2076: exactly 50 years
      (1_795_000_000, "Thursday, 18-Nov-76 11:06:41 GMT", 217_163_201),  // 1976: 2076 would be a second more
      (1_795_000_000, "Sunday, 19-Dec-76 02:01:18 GMT", 219_808_878),  // 1976: 2076 would be over 50 years
      (1_795_000_000, "Thursday, 18-Aug-77 02:01:18 GMT", 240_717_678),  // 1977
      (1_795_000_000, "Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      (3_500_000_000, "Wednesday, 18-Aug-06 02:01:18 GMT", 4_311_540_078),  // 2106, seen from 2080
      (0, "Thursday, 01-Jan-70 00:00:00 GMT", 0),
      (0, "Wednesday, 31-Dec-69 23:59:59 GMT", -1),
    ] as [(Int64, String, Int64)])
  func twoDigitYear(_ now: Int64, _ text: String, _ seconds: Int64) {
    #expect(HTTPDate.parse(Bytes(text), now: now) == seconds)
  }

  @Test(
    "writes IMF-fixdate",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_825_600, "Tue, 29 Feb 2000 12:00:00 GMT"),
      (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ] as [(Int64, String)])
  func writes(_ seconds: Int64, _ text: String) { #expect(HTTPDate.format(seconds).text == text) }

  @Test("reads back what it writes, over eight centuries") func roundTrip() {
    for seconds in stride(from: Int64(-13_000_000_000), to: 13_000_000_000, by: 6_999_983) {
      #expect(HTTPDate.parse(HTTPDate.format(seconds)[...]) == seconds)
    }
  }
}
