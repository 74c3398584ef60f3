import Testing

@testable import PawlBench

@Suite("Results as JSON") struct JSONReportTests {
  private func parse(_ text: String) throws -> RunResult { try JSONReport.parse(Array(text.utf8), path: "a.json") }

  @Test("are written whole, with stable names")
  func written() {
    var result = MadeUpResults.small
    result.latency.reset()
    result.firstByte = RunResult.emptyHistogram()
    for value in [5, 7, 7, 2049, 60_001] as [UInt64] { result.latency.record(value) }
    #expect(
      JSONReport.text(result) == """
        {
          "schema": "pawl-bench",
          "version": 1,
          "scenario": "hit",
          "label": "pawl",
          "url": "http://127.0.0.1:8080/1k",
          "startedAt": 1795293530123,
          "seconds": 2.0,
          "settings": [
            {"name": "connections", "value": "64"},
            {"name": "protocol", "value": "HTTP/1.1"}
          ],
          "counts": {"requests": 1003, "completed": 1000, "failures": {"status 503": 2, "timeout": 1}, \
        "connections": 65, "received": 1024000, "sent": 0, "interruptions": 0, "verified": 1024000},
          "summary": {"requestsPerSecond": 500.0, "bytesPerSecond": 512000.0, "failed": 3, \
        "cpuMicrosecondsPerRequest": 5.5, "cpuSecondsPerGB": 5.37109375},
          "latency": {"unit": "us", "count": 5, "mean": 12416.8, "p50": 7, "p75": 2049, "p90": 60001, "p99": 60001, \
        "p999": 60001, "p9999": 60001, "max": 60001,
            "values": [
              [5,1],[7,2],[2048,1],[60001,1]]},
          "firstByte": {"unit": "us", "count": 0, "mean": null, "p50": null, "p75": null, "p90": null, "p99": null, \
        "p999": null, "p9999": null, "max": null,
            "values": []},
          "process": {"processes": 2, "user": 0.002, "system": 0.0035, "memoryBefore": 10485760, \
        "memoryPeak": 12582912, "memoryAfter": 11534336},
          "extras": [
            {"name": "bytes sent again", "value": 65536.0, "unit": "B"},
            {"name": "rounds", "value": 2.5, "unit": ""}
          ],
          "samples": [
            {"time": 1.0, "completed": 600, "failed": 3, "bytes": 614400, "median": 500, "p99": 990, "slowest": 1000, \
        "cpu": 0.003, "memory": 12582912},
            {"time": 2.0, "completed": 400, "failed": 0, "bytes": 409600, "median": 510, "p99": 995, "slowest": 50003, \
        "cpu": null, "memory": null}
          ]
        }

        """)
  }

  @Test("read back as the same")
  func roundTrip() throws {
    for result in [MadeUpResults.small, MadeUpResults.large("a \"b\" \\ \u{1}\n é😀", seed: 7)] {
      let text = JSONReport.text(result)
      let read = try parse(text)
      #expect(JSONReport.text(read) == text)
      #expect(read.latency == result.latency && read.firstByte == result.firstByte)
      #expect(read.counts == result.counts && read.samples == result.samples && read.process == result.process)
      #expect(read.label == result.label && read.extras == result.extras && read.startedAt == result.startedAt)
      for percentile in [0, 50, 99, 99.9, 100] {
        #expect(read.latency.valueAtPercentile(percentile) == result.latency.valueAtPercentile(percentile))
      }
    }
  }

  @Test("numbers that are none are not written")
  func notNumbers() throws {
    var result = MadeUpResults.small
    result.extras.append(.init("share", .nan, "%"))
    result.seconds = .infinity
    let read = try parse(JSONReport.text(result))
    #expect(read.extras == MadeUpResults.small.extras && read.seconds == 0)
  }

  @Test(
    "that are not what this program writes are refused with file, line and column",
    arguments: [
      ("\"schema\": \"pawl-bench\"", "\"schema\": \"wrk\"", 2, 13, "not a result of pawl-bench"),
      ("\"version\": 1", "\"version\": 2", 3, 14, "only version 1 is known"),
      ("\"label\": \"pawl\"", "\"label\": 5", 5, 12, "label must be a string"),
      ("\"label\": \"pawl\",\n", "", 1, 1, "label is missing"),
      ("\"seconds\": 2.0", "\"seconds\": 2.0, \"minutes\": 1", 8, 19, "minutes is not known"),
      ("\"timeout\": 1", "\"timeout\": -1", 13, 92, "counts.failures.timeout must be a whole number"),
      ("[2,1]", "[2,0]", 17, 16, "latency.values[1] has a count that is not from 1 to 4294967295"),
      ("[2,1]", "[2,4294967296]", 17, 16, "latency.values[1] has a count that is not from 1 to 4294967295"),
      ("[2,1]", "[1,1]", 17, 14, "latency.values[1] does not lie above the value before it"),
      ("[2,1]", "[2]", 17, 13, "latency.values[1] must be a value and its count"),
      ("[2,1]", "[3600000001,1]", 17, 14, "latency.values[1] is more than an hour"),
      ("[2,1]", "[2,2]", 15, 38, "latency.count is not the sum of the counts"),
      ("\"unit\": \"us\"", "\"unit\": \"ms\"", 15, 23, "latency.unit must be \"us\""),
      ("}\n  ]\n}", "}\n  ]\n", 188, 1, "the text ends too early"),
    ])
  func refused(_ old: String, _ new: String, _ line: Int, _ column: Int, _ reason: String) throws {
    let text = JSONReport.text(MadeUpResults.small)
    let place = try #require(text.firstRange(of: old))
    let spoiled = text.replacingCharacters(in: place, with: new)
    #expect(throws: ReportError.malformed(path: "a.json", line: line, column: column, reason: reason)) {
      try parse(spoiled)
    }
  }

  @Test("two values that one slot of the histogram holds are refused: together they could overflow it")
  func equivalentValues() {
    let text = JSONReport.text(MadeUpResults.small)
    #expect(throws: ReportError.self) {
      try parse(text.replacing("[1000,1],[50003,1]", with: "[50002,4294967295],[50003,4294967295]"))
    }
  }
}

extension String {
  /// Foundation has these; the tests do without it.
  fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
    String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
  }
}
