import PawlBase
import Testing

@testable import PawlObserve

@Suite("Format of the operator") struct CustomFormatTests {
  private static func lines(_ source: String, _ record: AccessRecord) throws -> [String] {
    try AccessRecords.lines(.custom(try AccessFormat(source)), [record])
  }

  private static func full() -> AccessRecord {
    var record = AccessRecords.record()
    record.user = AccessRecords.bytes("ann")
    record.host = AccessRecords.bytes("example.org:8080")
    (record.durationMicros, record.requestID) = (1_234_567, AccessRecords.bytes("id"))
    (record.site, record.upstream, record.cacheOutcome) = ("default", "app", "partial")
    (record.bytesFromCache, record.bytesFromOrigin, record.bytesResumed, record.bytesReplayed) = (1, 2, 3, 4)
    (record.originResumes, record.tlsVersion, record.tlsCipher) = (5, "TLSv1.3", "TLS_AES")
    record.extras = AccessExtras(
      isSecure: true, serverPort: 443, remotePort: 50_000, requestLength: 99, headLength: 66,
      origin: AccessExtras.Origin(address: "127.0.0.1:9000", status: 206, micros: 45_678),
      requestFields: [AccessRecords.bytes("a\"b"), nil], responseFields: [AccessRecords.bytes("text/plain")])
    return record
  }

  @Test(
    "shows each variable",
    arguments: [
      ("$remote_addr $remote_user $remote_port", "192.0.2.1 ann 50000"),
      ("$msec $request_time", "1795255200.123 1.234"),
      ("$request|$request_method|$request_uri", "GET /a/b?c=d HTTP/1.1|GET|/a/b?c=d"),
      ("$uri $args $query_string $is_args", "/a/b c=d c=d ?"), ("$server_protocol $scheme", "HTTP/1.1 https"),
      ("$host $http_host $server_name $server_port", "example.org example.org:8080 default 443"),
      ("$status $body_bytes_sent $bytes_sent $request_length", "200 1234 1300 99"), ("$request_id", "id"),
      ("$upstream_addr $upstream_status $upstream_response_time", "127.0.0.1:9000 206 0.045"),
      ("$upstream_cache_status $ssl_protocol $ssl_cipher $ssl_client_s_dn", "MISS TLSv1.3 TLS_AES -"),
      ("$http_x_one $http_x_two $sent_http_content_type", #"a\x22b - text/plain"#),
      ("$http_referer $http_user_agent", "- -"),
      ("$pawl_site $pawl_upstream $pawl_cache $pawl_duration_us", "default app partial 1234567"),
      ("$pawl_bytes_from_cache $pawl_bytes_from_origin $pawl_bytes_resumed $pawl_bytes_replayed", "1 2 3 4"),
      ("$pawl_origin_resumes $pawl_ended_by $pawl_end_reason", "5 done -"),
      ("escape=json {\"f\":\"$http_x_one\",\"g\":\"$http_x_two\"}", #"{"f":"a\"b","g":""}"#),
      ("escape=none $http_x_one$http_x_two", "a\"b"),
    ])
  func variables(_ source: String, _ expected: String) throws {
    #expect(try Self.lines(source, Self.full()) == [expected])
  }

  @Test("without escapes no value ends its line or forges another one")
  func forging() throws {
    var record = Self.full()
    record.user = AccessRecords.bytes("ann\r\n10.0.0.1 forged\u{1b}[2J\u{7f}\t\"é\\")
    record.tlsCipher = "a\nb"
    #expect(
      try Self.lines("escape=none $remote_user $ssl_cipher", record)
        == [#"ann\x0D\x0A10.0.0.1 forged\x1B[2J\x7F\x09"é\ a\x0Ab"#])
  }

  @Test("a request that was refused shows the line that came")
  func refused() throws {
    var record = AccessRecord(time: 0, remote: AccessRecords.bytes("::1"))
    record.requestLine = AccessRecords.bytes("GET /x\u{1} HTTP/3.7")
    (record.method, record.target) = (AccessRecords.bytes("GET"), AccessRecords.bytes("/x\u{1}"))
    (record.sentVersion, record.status) = (AccessRecords.bytes("HTTP/3.7"), 505)
    #expect(
      try Self.lines("$request|$request_method|$uri|$server_protocol|$status", record)
        == [#"GET /x\x01 HTTP/3.7|GET|/x\x01|HTTP/3.7|505"#])
    record.sentVersion = []
    #expect(try Self.lines("$server_protocol", record) == ["-"])
  }

  @Test("the local times are those of one second")
  func times() throws {
    let line = try Self.lines("$time_local $time_iso8601", Self.full())[0].split(separator: " ")
    #expect(line.count == 3 && line[0].hasSuffix(":00") && line[2].hasPrefix("2026-11-21T"))
  }

  @Test("shows what is missing as nginx does")
  func missing() throws {
    var early = AccessRecord(time: 0, remote: AccessRecords.bytes("::1"))
    early.status = 408
    #expect(
      try Self.lines("$request $request_uri $args$is_args $upstream_addr $upstream_cache_status $host", early)
        == ["- - - - - -"])
    var plain = AccessRecords.record()
    plain.target = AccessRecords.bytes("/")
    plain.host = AccessRecords.bytes("[::1]:80")
    #expect(try Self.lines("$args[$is_args] $host", plain) == ["-[] [::1]"])
    plain.target = AccessRecords.bytes("/?")
    plain.host = AccessRecords.bytes("[::1]")
    #expect(try Self.lines("[$args$is_args] $host", plain) == ["[-] [::1]"])
  }

  @Test(
    "shows the status that nginx has for a client that left",
    arguments: [
      (0, TransferEnd.client, "499"), (0, .pawl, "000"), (200, .client, "200"), (502, .origin, "502"),
    ])
  func aborts(_ status: Int, _ end: TransferEnd, _ expected: String) throws {
    var record = AccessRecords.record()
    (record.status, record.endedBy) = (status, end)
    #expect(try Self.lines("$status", record) == [expected])
  }

  @Test(
    "shows nginx's words for what the cache did",
    arguments: [
      ("hit", "HIT"), ("collapsed", "HIT"), ("partial", "MISS"), ("miss", "MISS"), ("revalidated", "REVALIDATED"),
      ("stale", "STALE"), ("bypass", "BYPASS"), ("-", "-"),
    ])
  func cache(_ outcome: String, _ expected: String) throws {
    var record = AccessRecords.record()
    record.cacheOutcome = outcome
    #expect(try Self.lines("$upstream_cache_status", record) == [expected])
  }
}
