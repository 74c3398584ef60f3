import Testing

@testable import PawlObserve

@Suite("Local time") struct LocalTimeTextTests {
  @Test(
    "writes the time as nginx does",
    arguments: [
      (0, 0, "01/Jan/1970:00:00:00 +0000"), (1_795_255_200, 3600, "21/Nov/2026:11:00:00 +0100"),
      (1_795_255_200, -12_600, "21/Nov/2026:06:30:00 -0330"), (951_782_400, 0, "29/Feb/2000:00:00:00 +0000"),
      (4_107_542_399, 0, "28/Feb/2100:23:59:59 +0000"), (4_107_542_400, 0, "01/Mar/2100:00:00:00 +0000"),
      (-1, 0, "31/Dec/1969:23:59:59 +0000"), (.max, 0, "31/Dec/9999:23:59:59 +0000"),
    ] as [(Int64, Int64, String)])
  func localTime(_ second: Int64, _ offset: Int64, _ expected: String) {
    #expect(LocalTimeText.format(second, secondsEastOfUTC: offset) == Array(expected.utf8))
  }

  @Test("keeps the time of a second, and makes the next one anew")
  func localTimeCache() {
    var text = LocalTimeText()
    let first = text.text(ofSecond: 1_795_255_200)
    #expect(text.text(ofSecond: 1_795_255_200) == first)
    #expect(text.text(ofSecond: 1_795_255_201) != first)
  }

  @Test(
    "is written as in RFC 3339 and for syslog, too",
    arguments: [
      (1_795_255_200, 3600, "2026-11-21T11:00:00+01:00", "Nov 21 11:00:00"),
      (1_795_255_200, -12_600, "2026-11-21T06:30:00-03:30", "Nov 21 06:30:00"),
      (0, 0, "1970-01-01T00:00:00+00:00", "Jan  1 00:00:00"),
    ] as [(Int64, Int64, String, String)])
  func others(_ second: Int64, _ offset: Int64, _ iso: String, _ syslog: String) {
    #expect(LocalTimeText.iso(second, secondsEastOfUTC: offset) == Array(iso.utf8))
    #expect(LocalTimeText.syslog(second, secondsEastOfUTC: offset) == Array(syslog.utf8))
  }
}
