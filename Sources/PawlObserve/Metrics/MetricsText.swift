import PawlBase

/// The two text formats of Prometheus.
package enum MetricsFormat: Sendable {
  /// OpenMetrics 1.0.
  case openMetrics
  /// The text format 0.0.4, for scrapers that do not take OpenMetrics.
  case prometheus

  package var mediaType: StaticString {
    switch self {
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    }
  }

  /// Chooses by the request's `Accept`: OpenMetrics where the field names it, and prefers it to plain text.
  package init(accept: String?) {
    var (open, plain) = (0.0, 0.0)
    for item in (accept ?? "").lowercased().split(separator: ",") {
      let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      let version = parts.dropFirst().first { $0.hasPrefix("version=") }?.dropFirst(8)
      switch parts.first {
      case "application/openmetrics-text" where version == nil || version == "1.0.0": open = max(open, weight)
      case "text/plain": plain = max(plain, weight)
      default: break
      }
    }
    self = open > 0 && open >= plain ? .openMetrics : .prometheus
  }
}

extension MetricsSnapshot {
  /// Returns the text of all metrics that have samples.
  package func text(_ format: MetricsFormat) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(64 << 10)
    for family in MetricFamily.allCases {
      let samples = samples(of: family)
      guard !samples.isEmpty else { continue }
      text.append(headOf: family, format)
      for sample in samples { text.append(sample, of: family) }
    }
    if format == .openMetrics { text.append(text: "# EOF\n") }
    return text
  }
}

extension [UInt8] {
  fileprivate mutating func append(headOf family: MetricFamily, _ format: MetricsFormat) {
    let name = format == .openMetrics ? family.rawValue : family.sampleName
    append(text: "# HELP ")
    append(contentsOf: name.utf8)
    append(0x20)
    append(text: family.help)
    append(text: "\n# TYPE ")
    append(contentsOf: name.utf8)
    append(0x20)
    append(text: Self.word(family.kind, format))
    append(0x0a)
  }

  private static func word(_ kind: MetricFamily.Kind, _ format: MetricsFormat) -> StaticString {
    switch kind {
    case .counter: "counter"
    case .gauge: "gauge"
    case .histogram: "histogram"
    case .info: format == .openMetrics ? "info" : "gauge"
    }
  }

  fileprivate mutating func append(_ sample: MetricsSnapshot.Sample, of family: MetricFamily) {
    switch sample.value {
    case .count(let value):
      append(name: family.sampleName, "", sample.labels)
      append(decimal: value)
    case .microseconds(let value):
      append(name: family.sampleName, "", sample.labels)
      append(seconds: value)
    case .histogram(let histogram): return append(histogram, of: family, sample.labels)
    }
    append(0x0a)
  }

  private mutating func append(_ histogram: TimeHistogram, of family: MetricFamily, _ labels: [MetricLabel]) {
    var cumulated: UInt64 = 0
    for (index, count) in histogram.buckets.enumerated() {
      cumulated &+= count
      append(name: family.rawValue, "_bucket", labels, bound: TimeBuckets.upperBound(of: index) ?? .max)
      append(decimal: cumulated)
      append(0x0a)
    }
    append(name: family.rawValue, "_sum", labels)
    append(seconds: histogram.sum)
    append(0x0a)
    append(name: family.rawValue, "_count", labels)
    append(decimal: cumulated)
    append(0x0a)
  }

  /// - Parameter bound: the value of the label `le`, in microseconds; `.max`: `+Inf`.
  private mutating func append(
    name: String, _ suffix: StaticString, _ labels: [MetricLabel], bound: UInt64? = nil
  ) {
    append(contentsOf: name.utf8)
    append(text: suffix)
    guard !labels.isEmpty || bound != nil else { return append(0x20) }
    var separator: UInt8 = 0x7b
    for (name, value) in labels {
      append(separator)
      separator = 0x2c
      append(text: name)
      append(text: "=\"")
      for byte in value.utf8 { append(labelByte: byte) }
      append(0x22)
    }
    if let bound {
      append(separator)
      append(text: "le=\"")
      bound == .max ? append(text: "+Inf") : append(seconds: bound)
      append(0x22)
    }
    append(text: "} ")
  }

  private mutating func append(labelByte byte: UInt8) {
    switch byte {
    case 0x22, 0x5c: append(contentsOf: [0x5c, byte])
    case 0x0a: append(contentsOf: [0x5c, 0x6e])
    default: append(byte)
    }
  }

  private mutating func append(seconds microseconds: UInt64) {
    append(decimal: microseconds / 1_000_000)
    append(0x2e)
    append(decimal: microseconds % 1_000_000, width: 6)
  }
}
