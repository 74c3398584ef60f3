import Testing

@testable import PawlObserve

@Suite("Combined format") struct CombinedFormatTests {
  @Test("writes nginx's combined line")
  func combined() throws {
    var full = AccessRecords.record()
    full.user = AccessRecords.bytes("ann")
    full.referer = AccessRecords.bytes("http://example.org/")
    full.userAgent = AccessRecords.bytes("curl/7.88.1")
    var early = AccessRecord(time: 0, remote: AccessRecords.bytes("::1"))
    (early.status, early.referer) = (400, [])
    #expect(
      try AccessRecords.lines(.combined, [AccessRecords.record(), full, early]).map(AccessRecords.withoutTime) == [
        #"192.0.2.1 - - [] "GET /a/b?c=d HTTP/1.1" 200 1234 "-" "-""#,
        #"192.0.2.1 - ann [] "GET /a/b?c=d HTTP/1.1" 200 1234 "http://example.org/" "curl/7.88.1""#,
        #"::1 - - [] "-" 400 0 "" "-""#,
      ])
  }

  @Test("escapes as nginx does, so that one request is one line")
  func combinedEscapes() throws {
    var record = AccessRecords.record()
    record.userAgent = [0x22, 0x5c, 0x0a, 0x0d, 0x1f, 0x7f, 0x80, 0xff, 0x20, 0x7e]
    (record.version, record.status) = ("HTTP/1.0", 0)
    #expect(
      try AccessRecords.lines(.combined, [record]).map(AccessRecords.withoutTime) == [
        #"192.0.2.1 - - [] "GET /a/b?c=d HTTP/1.0" 000 1234 "-" "\x22\x5C\x0A\x0D\x1F\x7F\x80\xFF ~""#
      ])
  }
}
