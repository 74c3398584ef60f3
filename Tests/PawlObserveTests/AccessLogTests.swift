@testable import PawlObserve
import Testing

@Suite("Access log") struct AccessLogTests {
  private static func octets(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

  /// What the log makes of some records, in lines.
  private static func lines(_ format: AccessLogFormat, _ records: [AccessRecord]) throws -> [String] {
    let received = Locked<[UInt8]>([])
    let log = try AccessLog(
      destination: .closure { bytes in received.withLock { $0.append(contentsOf: bytes) } }, format: format)
    for record in records { log.write(record) }
    log.flush()
    let bytes = received.withLock { $0 }
    #expect(bytes.isEmpty || bytes.last == 0x0a)
    return bytes.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func record() -> AccessRecord {
    var record = AccessRecord(time: 1_795_255_200_123, remote: octets("192.0.2.1"))
    record.method = octets("GET")
    record.target = octets("/a/b?c=d")
    (record.status, record.bytes) = (200, 1234)
    return record
  }

  /// The same line without its time, which depends on where the test runs.
  private static func withoutTime(_ line: String) -> String {
    let parts = line.split(separator: "[", maxSplits: 1).flatMap { $0.split(separator: "]", maxSplits: 1) }
    return parts.count == 3 ? parts[0] + "[]" + parts[2] : line
  }

  @Test("writes nginx's combined line")
  func combined() throws {
    var full = Self.record()
    full.user = Self.octets("ann")
    full.referer = Self.octets("http://example.org/")
    full.userAgent = Self.octets("curl/7.88.1")
    var early = AccessRecord(time: 0, remote: Self.octets("::1"))
    (early.status, early.referer) = (400, [])
    #expect(
      try Self.lines(.combined, [Self.record(), full, early]).map(Self.withoutTime) == [
        #"192.0.2.1 - - [] "GET /a/b?c=d HTTP/1.1" 200 1234 "-" "-""#,
        #"192.0.2.1 - ann [] "GET /a/b?c=d HTTP/1.1" 200 1234 "http://example.org/" "curl/7.88.1""#,
        #"::1 - - [] "-" 400 0 "" "-""#,
      ])
  }

  @Test("escapes as nginx does, so that one request is one line")
  func combinedEscapes() throws {
    var record = Self.record()
    record.userAgent = [0x22, 0x5c, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0xff, 0x20, 0x7e]
    (record.version, record.status) = ("HTTP/1.0", 0)
    #expect(
      try Self.lines(.combined, [record]).map(Self.withoutTime) == [
        #"192.0.2.1 - - [] "GET /a/b?c=d HTTP/1.0" 000 1234 "-" "\x22\x5C\x0A\x0D\x1F\x7F\x80\xFF ~""#
      ])
  }

  @Test(
    "writes the time as nginx does",
    arguments: [
      (0, 0, "01/Jan/1970:00:00:00 +0000"), (1_795_255_200, 3600, "21/Nov/2026:11:00:00 +0100"),
      (1_795_255_200, -12_600, "21/Nov/2026:06:30:00 -0330"), (951_782_400, 0, "29/Feb/2000:00:00:00 +0000"),
      (4_107_542_399, 0, "28/Feb/2100:23:59:59 +0000"), (4_107_542_400, 0, "01/Mar/2100:00:00:00 +0000"),
      (-1, 0, "31/Dec/1969:23:59:59 +0000"), (.max, 0, "31/Dec/9999:23:59:59 +0000"),
    ] as [(Int64, Int64, String)])
  func localTime(_ second: Int64, _ offset: Int64, _ expected: String) {
    #expect(LocalTimeText.format(second, secondsEastOfUTC: second == .max ? 0 : offset) == Array(expected.utf8))
  }

  @Test("keeps the time of a second, and makes the next one anew")
  func localTimeCache() {
    var text = LocalTimeText()
    let first = text.text(ofSecond: 1_795_255_200)
    #expect(text.text(ofSecond: 1_795_255_200) == first)
    #expect(text.text(ofSecond: 1_795_255_201) != first)
  }

  @Test("writes a JSON object with every member")
  func json() throws {
    var record = Self.record()
    record.referer = Self.octets("http://example.org/")
    record.durationMicros = 4321
    record.requestID = Self.octets("00ff")
    record.host = Self.octets("example.org")
    (record.site, record.upstream, record.cacheOutcome) = ("shop", "app", "partial")
    (record.bytesFromCache, record.bytesFromOrigin, record.bytesResumed, record.bytesReplayed) = (1, 2, 3, 4)
    (record.originResumes, record.endedBy, record.endReason) = (5, .origin, "content-changed")
    #expect(
      try Self.lines(.json, [record]) == [
        #"{"time":"2026-11-21T10:00:00.123Z","remote":"192.0.2.1","user":null,"method":"GET","host":"example.org","#
          + #""target":"/a/b?c=d","version":"HTTP/1.1","status":200,"bytes":1234,"duration_us":4321,"#
          + #""referer":"http://example.org/","user_agent":null,"request_id":"00ff","site":"shop","upstream":"app","#
          + #""cache":"partial","bytes_from_cache":1,"bytes_from_origin":2,"bytes_resumed":3,"bytes_replayed":4,"#
          + #""origin_resumes":5,"ended_by":"origin","end_reason":"content-changed"}"#
      ])
  }

  @Test(
    "stays JSON whatever a client sends",
    arguments: [
      (Array("plain".utf8), "plain"), (Array(#"a"b\c"#.utf8), #"a\"b\\c"#), ([0, 0x0a, 0x1f, 0x7f], #"\u0000\u000a\u001f\u007f"#),
      (Array("größe 😀 €".utf8), "größe 😀 €"), ([0x67, 0xfc, 0x6e], #"g\u00fcn"#), ([0xc3], #"\u00c3"#),
      ([0xc3, 0x22], #"\u00c3\""#), ([0xc0, 0xaf], #"\u00c0\u00af"#), ([0xed, 0xa0, 0x80], #"\u00ed\u00a0\u0080"#),
      ([0xf4, 0x90, 0x80, 0x80], #"\u00f4\u0090\u0080\u0080"#), ([0xe2, 0x82], #"\u00e2\u0082"#),
      ([0xe0, 0x9f, 0xbf], #"\u00e0\u009f\u00bf"#), ([0xf0, 0x8f, 0xbf, 0xbf], #"\u00f0\u008f\u00bf\u00bf"#),
      ([0xff, 0xfe], #"\u00ff\u00fe"#),
    ] as [([UInt8], String)])
  func jsonEscapes(_ value: [UInt8], _ expected: String) throws {
    var record = Self.record()
    record.userAgent = value[...]
    let line = try #require(try Self.lines(.json, [record]).first)
    #expect(line.contains("\"user_agent\":\"\(expected)\",\"request_id\""))
  }

  @Test("is nothing when it is off")
  func off() throws {
    let log = try AccessLog(destination: .off, format: .json)
    #expect(!log.isEnabled)
    log.write(Self.record())
    log.reopen()
    log.flush()
    #expect(log.takeDropped() == 0)
  }
}
