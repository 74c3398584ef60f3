import Testing

@testable import PawlObserve

@Suite("Access log") struct AccessLogTests {
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

  @Test("is nothing when it is off")
  func off() throws {
    let log = try AccessLog(destination: .off, format: .json)
    #expect(!log.isEnabled)
    log.write(AccessRecords.record())
    log.reopen()
    log.flush()
    #expect(log.takeDropped() == 0)
  }
}
