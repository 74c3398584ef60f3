import Histogram

/// One result as a file (`--json`), in schema version 1. The documentation of this module describes the schema.
package enum JSONReport {
  static let schema = "pawl-bench"
  static let version: UInt64 = 1

  package static func text(_ result: RunResult) -> String {
    var lines = [
      "\"schema\": \(quoted(schema))", "\"version\": \(version)", "\"scenario\": \(quoted(result.scenario))",
      "\"label\": \(quoted(result.label))", "\"url\": \(quoted(result.url))", "\"startedAt\": \(result.startedAt)",
      "\"seconds\": \(number(result.seconds))",
    ]
    let settings = result.settings.map { "{\"name\": \(quoted($0.name)), \"value\": \(quoted($0.value))}" }
    lines.append("\"settings\": \(list(settings))")
    lines.append("\"counts\": \(counts(result.counts))")
    lines.append("\"summary\": \(summary(result))")
    lines.append("\"latency\": \(histogram(result.latency))")
    lines.append("\"firstByte\": \(histogram(result.firstByte))")
    lines.append("\"process\": \(result.process.map(process) ?? "null")")
    let extras = result.extras.filter(\.value.isFinite).map {
      "{\"name\": \(quoted($0.name)), \"value\": \(number($0.value)), \"unit\": \(quoted($0.unit))}"
    }
    lines.append("\"extras\": \(list(extras))")
    lines.append("\"samples\": \(list(result.samples.map(sample)))")
    return "{\n  " + lines.joined(separator: ",\n  ") + "\n}\n"
  }

  private static func counts(_ counts: RunResult.Counts) -> String {
    let failures = counts.failures.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \($0.value)" }
    return """
      {"requests": \(counts.requests), "completed": \(counts.completed), \
      "failures": {\(failures.joined(separator: ", "))}, "connections": \(counts.connections), \
      "received": \(counts.received), "sent": \(counts.sent), "interruptions": \(counts.interruptions), \
      "verified": \(counts.verified)}
      """
  }

  /// A summary for tools that read one number. `parse` ignores the summary: its numbers are computed again.
  private static func summary(_ result: RunResult) -> String {
    func value(_ figure: ReportFigure) -> String { figure.value.map(number) ?? "null" }
    return """
      {"requestsPerSecond": \(value(result.requestsPerSecond)), "bytesPerSecond": \(value(result.throughput)), \
      "failed": \(result.failed), "cpuMicrosecondsPerRequest": \(value(result.cpuPerRequest)), \
      "cpuSecondsPerGB": \(value(result.cpuPerGigabyte))}
      """
  }

  private static func histogram(_ histogram: Histogram<UInt32>) -> String {
    let count = histogram.totalCount
    var members = ["\"unit\": \"us\"", "\"count\": \(count)"]
    members.append("\"mean\": \(count > 0 ? number(histogram.mean) : "null")")
    for (name, percentile) in [("p50", 50), ("p75", 75), ("p90", 90), ("p99", 99), ("p999", 99.9), ("p9999", 99.99)] {
      members.append("\"\(name)\": \(count > 0 ? "\(histogram.valueAtPercentile(percentile))" : "null")")
    }
    members.append("\"max\": \(count > 0 ? "\(histogram.maxRecorded)" : "null")")
    let pairs = histogram.pairs.map { "[\($0.value),\($0.count)]" }
    let rows = stride(from: 0, to: pairs.count, by: 12).map { start in
      "\n      " + pairs[start..<min(start + 12, pairs.count)].joined(separator: ",")
    }
    return "{\(members.joined(separator: ", ")),\n    \"values\": [\(rows.joined(separator: ","))]}"
  }

  private static func process(_ use: RunResult.ProcessUse) -> String {
    """
    {"processes": \(use.processes), "user": \(number(use.user)), "system": \(number(use.system)), \
    "memoryBefore": \(use.memoryBefore), "memoryPeak": \(use.memoryPeak), "memoryAfter": \(use.memoryAfter)}
    """
  }

  private static func sample(_ sample: RunResult.Sample) -> String {
    """
    {"time": \(number(sample.time)), "completed": \(sample.completed), "failed": \(sample.failed), \
    "bytes": \(sample.bytes), "median": \(sample.median), "p99": \(sample.p99), "slowest": \(sample.slowest), \
    "cpu": \(sample.cpu.map(number) ?? "null"), "memory": \(sample.memory.map { "\($0)" } ?? "null")}
    """
  }

  private static func list(_ elements: [String]) -> String {
    elements.isEmpty ? "[]" : "[\n    " + elements.joined(separator: ",\n    ") + "\n  ]"
  }

  /// The shortest text that is read as the same number. JSON has no text for infinity and NaN, so `0` is written for them.
  private static func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "0" }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        quoted += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension Histogram<UInt32> {
  /// All recorded values, in increasing order. The last one is the exact maximum; each of the others is the lowest value of its
  /// slot.
  var pairs: [(value: UInt64, count: UInt32)] {
    recordedValues().map { step in
      let isLast = valuesAreEquivalent(step.value, maxRecorded)
      return (isLast ? maxRecorded : lowestEquivalentForValue(step.value), step.count)
    }
  }
}
