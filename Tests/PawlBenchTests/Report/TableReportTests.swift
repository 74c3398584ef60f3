import Testing

@testable import PawlBench

@Suite("A result as a table") struct TableReportTests {
  @Test("has settings, load, latencies, the server, failures and what else was found")
  func whole() {
    #expect(
      TableReport.text(MadeUpResults.small) == """
        pawl: cached hits
        http://127.0.0.1:8080/1k
        Sat, 21 Nov 2026 20:38:50 GMT, 2.00 s measured

        Settings
          connections                         64
          protocol                      HTTP/1.1

        Load
          requests completed               1,000
          requests a second                  500
          failed                               3
          throughput                   500 KiB/s
          content received             1,000 KiB
          content checked              1,000 KiB
          new connections                     65

        Latency
                                    whole answer      first byte
          50 %                            501 µs          450 µs
          75 %                            751 µs          675 µs
          90 %                            901 µs          810 µs
          99 %                            991 µs          891 µs
          99.9 %                         1.00 ms
          max                            50.0 ms          900 µs

        Server
          CPU a request                  5.50 µs
          CPU a GB                        5.37 s
          CPU, share of a core           0.275 %
          CPU, user                      2.00 ms
          CPU, system                    3.50 ms
          memory, before                  10 MiB
          memory, peak                    12 MiB
          memory, after                   11 MiB
          processes                            2

        Failures
          status 503                           2
          timeout                              1

        Also found
          bytes sent again                64 KiB
          rounds                            2.50

        FAILED: 3 of 1,003 requests failed or were answered wrong.

        """)
  }

  @Test("of a run that found nothing says so")
  func empty() {
    let result = RunResult(scenario: "resume", label: "a", url: "http://a/", startedAt: 0)
    #expect(
      TableReport.text(result) == """
        a: interrupted downloads
        http://a/
        Thu, 01 Jan 1970 00:00:00 GMT, 0 µs measured

        Load
          downloads completed                  0
          downloads a second                   –
          failed                               0
          throughput                           –
          content checked                    0 B
          new connections                      0

        Nothing was completed.

        """)
  }

  @Test("ends with what was checked when all was right")
  func right() {
    var result = MadeUpResults.small
    result.counts.failures = [:]
    #expect(
      TableReport.verdict(result)
        == "All 1,000 requests were complete and correct; 1,000 KiB of content were checked.")
    result.counts.verified = 0
    #expect(TableReport.verdict(result) == "All 1,000 requests were complete and correct.")
  }

  @Test("does not let texts from outside move the cursor")
  func controls() {
    var result = MadeUpResults.small
    result.label = "a\u{1b}[2Jb\r\u{9b}c"
    #expect(TableReport.text(result).hasPrefix("a\u{fffd}[2Jb\u{fffd}\u{fffd}c: cached hits\n"))
  }
}
