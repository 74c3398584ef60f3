import Testing

@testable import PawlObserve

@Suite("JSON format") struct JSONFormatTests {
  @Test("writes a JSON object with every member")
  func json() throws {
    var record = AccessRecords.record()
    record.referer = AccessRecords.bytes("http://example.org/")
    record.durationMicros = 4321
    record.requestID = AccessRecords.bytes("00ff")
    record.host = AccessRecords.bytes("example.org")
    (record.site, record.upstream, record.cacheOutcome) = ("shop", "app", "partial")
    (record.bytesFromCache, record.bytesFromOrigin, record.bytesResumed, record.bytesReplayed) = (1, 2, 3, 4)
    (record.originResumes, record.endedBy, record.endReason) = (5, .origin, "content-changed")
    (record.tlsVersion, record.tlsCipher) = ("TLSv1.3", "TLS_AES_128_GCM_SHA256")
    #expect(
      try AccessRecords.lines(.json, [record]) == [
        #"{"time":"2026-11-21T10:00:00.123Z","remote":"192.0.2.1","user":null,"method":"GET","host":"example.org","#
          + #""target":"/a/b?c=d","version":"HTTP/1.1","status":200,"bytes":1234,"duration_us":4321,"#
          + #""referer":"http://example.org/","user_agent":null,"request_id":"00ff","site":"shop","upstream":"app","#
          + #""cache":"partial","bytes_from_cache":1,"bytes_from_origin":2,"bytes_resumed":3,"bytes_replayed":4,"#
          + #""origin_resumes":5,"ended_by":"origin","end_reason":"content-changed","#
          + #""tls":"TLSv1.3","tls_cipher":"TLS_AES_128_GCM_SHA256","client_subject":null}"#
      ])
  }

  @Test(
    "stays JSON whatever a client sends",
    arguments: [
      (Array("plain".utf8), "plain"), (Array(#"a"b\c"#.utf8), #"a\"b\\c"#),
      ([0, 0x0a, 0x1f, 0x7f], #"\u0000\u000a\u001f\u007f"#),
      (Array("größe 😀 €".utf8), "größe 😀 €"), ([0x67, 0xfc, 0x6e], #"g\u00fcn"#), ([0xc3], #"\u00c3"#),
      ([0xc3, 0x22], #"\u00c3\""#), ([0xc0, 0xaf], #"\u00c0\u00af"#), ([0xed, 0xa0, 0x80], #"\u00ed\u00a0\u0080"#),
      ([0xf4, 0x90, 0x80, 0x80], #"\u00f4\u0090\u0080\u0080"#), ([0xe2, 0x82], #"\u00e2\u0082"#),
      ([0xe0, 0x9f, 0xbf], #"\u00e0\u009f\u00bf"#), ([0xf0, 0x8f, 0xbf, 0xbf], #"\u00f0\u008f\u00bf\u00bf"#),
      ([0xff, 0xfe], #"\u00ff\u00fe"#),
    ] as [([UInt8], String)])
  func jsonEscapes(_ value: [UInt8], _ expected: String) throws {
    var record = AccessRecords.record()
    record.userAgent = value[...]
    let line = try #require(try AccessRecords.lines(.json, [record]).first)
    #expect(line.contains("\"user_agent\":\"\(expected)\",\"request_id\""))
  }
}
