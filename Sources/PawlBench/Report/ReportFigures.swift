import Histogram

/// One number of a report, with its name.
struct ReportFigure: Hashable, Sendable {
  enum Better: Hashable, Sendable { case lower, higher }

  var name: String
  /// The value; `nil` if it was not measured.
  var value: Double?
  var quantity: Quantity
  /// Whether a lower or a higher value is better; `nil` if neither is.
  var better: Better?

  init(_ name: String, _ value: Double?, _ quantity: Quantity, _ better: Better? = nil) {
    (self.name, self.value, self.quantity, self.better) = (name, value, quantity, better)
  }

  init(_ name: String, _ value: UInt64, _ quantity: Quantity, _ better: Better? = nil) {
    self.init(name, Double(value), quantity, better)
  }

  var text: String { value.map(quantity.text) ?? Quantity.nothing }

  /// Returns this value divided by the value of `other`.
  func ratio(to other: ReportFigure?) -> Double? {
    guard let value, let base = other?.value, base > 0, value.isFinite else { return nil }
    return value / base
  }
}

struct FigureGroup: Hashable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case load = "Load"
    case latency = "Latency, whole response"
    case firstByte = "Latency, first byte"
    case server = "Server"
    case failures = "Failures"
    case extras = "Also found"
  }

  var kind: Kind
  var figures: [ReportFigure]

  subscript(name: String) -> ReportFigure? { figures.first { $0.name == name } }
}

extension RunResult {
  /// The percentiles that tables show, besides the maximum.
  package static let percentiles: [(name: String, value: Double)] = [
    ("50 %", 50), ("75 %", 75), ("90 %", 90), ("99 %", 99), ("99.9 %", 99.9), ("99.99 %", 99.99),
  ]

  /// All numbers of a report about this run. Groups without numbers are left out.
  var figures: [FigureGroup] {
    FigureGroup.Kind.allCases.map { FigureGroup(kind: $0, figures: figures(of: $0)) }.filter { !$0.figures.isEmpty }
  }

  func figures(of kind: FigureGroup.Kind) -> [ReportFigure] {
    switch kind {
    case .load: loadFigures
    case .latency: Self.figures(of: latency)
    case .firstByte: Self.figures(of: firstByte)
    case .server: serverFigures
    case .failures: counts.failures.sorted { $0.key < $1.key }.map { ReportFigure($0.key, $0.value, .count, .lower) }
    case .extras: extras.map { ReportFigure($0.name, $0.value, Quantity(unit: $0.unit)) }
    }
  }

  var requestsPerSecond: ReportFigure {
    ReportFigure("\(words.many) a second", perSecond(counts.completed), .other(""), .higher)
  }

  /// The bytes of content that were received and sent in a second.
  var throughput: ReportFigure {
    ReportFigure("throughput", perSecond(bytes), .bytesPerSecond, .higher)
  }

  var cpuPerRequest: ReportFigure {
    let cpu = process.flatMap { counts.completed > 0 ? ($0.user + $0.system) / Double(counts.completed) * 1e6 : nil }
    return ReportFigure("CPU a \(words.one)", cpu, .microseconds, .lower)
  }

  var cpuPerGigabyte: ReportFigure {
    let cpu = process.flatMap { bytes > 0 ? ($0.user + $0.system) / (Double(bytes) / 1e9) : nil }
    return ReportFigure("CPU a GB", cpu, .seconds, .lower)
  }

  var memoryPeak: ReportFigure {
    ReportFigure("memory, peak", process.map { Double($0.memoryPeak) }, .bytes, .lower)
  }

  var failed: UInt64 { counts.failures.values.reduce(0) { $0 &+ $1 } }

  /// Bytes of content, received and sent.
  var bytes: UInt64 { counts.received &+ counts.sent }

  private func perSecond(_ count: UInt64) -> Double? { seconds > 0 ? Double(count) / seconds : nil }

  private var loadFigures: [ReportFigure] {
    var figures = [
      ReportFigure("\(words.many) completed", counts.completed, .count), requestsPerSecond,
      ReportFigure("failed", failed, .count, .lower), throughput,
    ]
    if counts.received > 0 { figures.append(ReportFigure("content received", counts.received, .bytes)) }
    if counts.sent > 0 { figures.append(ReportFigure("content sent", counts.sent, .bytes)) }
    figures.append(ReportFigure("content checked", counts.verified, .bytes))
    figures.append(ReportFigure("new connections", counts.connections, .count))
    if counts.interruptions > 0 { figures.append(ReportFigure("interruptions made", counts.interruptions, .count)) }
    return figures
  }

  private var serverFigures: [ReportFigure] {
    guard let process else { return [] }
    let cpu = process.user + process.system
    return [
      cpuPerRequest, cpuPerGigabyte,
      ReportFigure("CPU, share of a core", seconds > 0 ? cpu / seconds * 100 : nil, .percent),
      ReportFigure("CPU, user", process.user, .seconds), ReportFigure("CPU, system", process.system, .seconds),
      ReportFigure("memory, before", process.memoryBefore, .bytes, .lower), memoryPeak,
      ReportFigure("memory, after", process.memoryAfter, .bytes, .lower),
      ReportFigure("processes", Double(process.processes), .count),
    ]
  }

  private static func figures(of histogram: Histogram<UInt32>) -> [ReportFigure] {
    guard histogram.totalCount > 0 else { return [] }
    // A hundred values have no 99.9th percentile: it would be the maximum under another name.
    let told = percentiles.filter { Double(histogram.totalCount) * (100 - $0.value) >= 99.999 }
    return told.map { ReportFigure($0.name, histogram.valueAtPercentile($0.value), .microseconds, .lower) }
      + [ReportFigure("max", histogram.maxRecorded, .microseconds, .lower)]
  }
}

/// The names of a scenario and of its operations in a report.
struct ScenarioWords: Hashable, Sendable {
  var title: String
  var one: String
  var many: String

  init(_ scenario: String) {
    switch scenario {
    case "hit": self.init("Cached hits", "request")
    case "ranges": self.init("Random ranges", "request")
    case "fill": self.init("Cold fills", "download")
    case "resume": self.init("Interrupted downloads", "download")
    case "upload": self.init("Uploads", "upload")
    case "idle": self.init("Idle connections", "connection")
    default: self.init(scenario, "request")
    }
  }

  private init(_ title: String, _ one: String) { (self.title, self.one, many) = (title, one, one + "s") }
}

extension RunResult {
  var words: ScenarioWords { ScenarioWords(scenario) }
}
