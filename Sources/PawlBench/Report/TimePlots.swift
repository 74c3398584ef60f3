/// The plots of a run over time, second by second. Long runs are drawn in equal steps of several seconds.
struct TimePlots {
  /// The values of one step of one result.
  struct Step: Hashable {
    /// The end of the step in seconds.
    var time: Double
    var completed: Double
    var bytes: Double
    var median: Double
    var p99: Double
    var slowest: Double
    /// CPU use in percent of a core; `nil` if it is not known.
    var cpu: Double?
    var memory: Double?
  }

  /// The largest number of steps. With more, a step would be narrower than two pixels.
  static let limit = 240

  let results: [RunResult]
  /// The steps of each result.
  let steps: [[Step]]
  /// The length of a step in seconds.
  let width: Double
  private let length: Double

  init(_ results: [RunResult]) {
    self.results = results
    length = max(1, results.compactMap { $0.samples.last?.time }.max() ?? 0)
    let width = max(1, (length / Double(Self.limit)).rounded(.up))
    self.width = width
    steps = results.map { Self.steps($0.samples, width: width) }
  }

  static func steps(_ samples: [RunResult.Sample], width: Double) -> [Step] {
    var (steps, start, before) = ([Step](), 0, 0.0)
    while start < samples.count {
      let slot = (samples[start].time / width - 0.01).rounded(.down)
      var end = start + 1
      while end < samples.count, (samples[end].time / width - 0.01).rounded(.down) == slot { end += 1 }
      let part = samples[start..<end]
      let time = part.last?.time ?? before
      steps.append(step(part, seconds: max(time - before, 0.001), time: time))
      (start, before) = (end, time)
    }
    return steps
  }

  private static func step(_ part: ArraySlice<RunResult.Sample>, seconds: Double, time: Double) -> Step {
    let completed = part.reduce(0.0) { $0 + Double($1.completed) }
    let medians = part.reduce(0.0) { $0 + Double($1.median) * Double($1.completed) }
    let cpu = part.compactMap(\.cpu)
    return Step(
      time: time, completed: completed / seconds, bytes: part.reduce(0.0) { $0 + Double($1.bytes) } / seconds,
      median: completed > 0 ? medians / completed : 0, p99: Double(part.map(\.p99).max() ?? 0),
      slowest: Double(part.map(\.slowest).max() ?? 0),
      cpu: cpu.count == part.count ? cpu.reduce(0, +) / seconds * 100 : nil,
      memory: part.compactMap(\.memory).max().map { Double($0) })
  }

  /// All plots; none for a run of fewer than two seconds.
  var all: [Plot] {
    guard steps.contains(where: { $0.count > 1 }) else { return [] }
    return (latencies + [rate] + measured).compactMap(\.self)
  }

  /// The plots of latencies. One result has its three latencies in one plot; several results have a plot for each latency.
  private var latencies: [Plot?] {
    let kinds: [(name: String, title: String, value: KeyPath<Step, Double>)] = [
      ("median", "Median latency", \.median), ("99 %", "99th percentile", \.p99), ("slowest", "Slowest", \.slowest),
    ]
    let note = "Of the \(many) that ended in each \(stepName)."
    if results.count == 1 {
      let lines = kinds.enumerated().map { index, kind in (kind.name, index, ended(0, kind.value)) }
      return [plot("Latency over time", note, .microseconds, "latency", lines)]
    }
    return kinds.map { kind in
      let lines = results.indices.map { (results[$0].label, HTMLReport.colour($0), ended($0, kind.value)) }
      return plot("\(kind.title) over time", note, .microseconds, "latency", lines.filter { !$0.2.isEmpty })
    }
  }

  /// The points of a latency. A step in which nothing ended has no point; the line continues to the next point.
  private func ended(_ index: Int, _ value: KeyPath<Step, Double>) -> [(x: Double, y: Double?)] {
    points(index) { $0.completed > 0 ? $0[keyPath: value] : nil }.filter { $0.y != nil }
  }

  /// The plot of bytes if responses are large, or of requests if they are small.
  private var rate: Plot? {
    let (completed, bytes) = results.reduce((0.0, 0.0)) {
      ($0.0 + Double($1.counts.completed), $0.1 + Double($1.bytes))
    }
    if bytes > completed * 262_144 {
      return byResult("Throughput over time", "Content received and sent.", .bytesPerSecond, "content") { $0.bytes }
    }
    return byResult("Throughput over time", "Completed in each \(stepName).", .other(""), "\(many) a second") {
      $0.completed
    }
  }

  private var measured: [Plot?] {
    [
      byResult("CPU over time", "Of the server and its children; 100 % is one core.", .percent, "CPU") { $0.cpu },
      byResult("Memory over time", "Of the server and its children.", .bytes, "memory") { $0.memory },
    ]
  }

  private var many: String { results.first?.words.many ?? "requests" }

  private var stepName: String { width == 1 ? "second" : "\(Quantity.decimal(width, places: 0)) seconds" }

  private func byResult(
    _ title: String, _ note: String, _ quantity: Quantity, _ label: String, _ value: (Step) -> Double?
  ) -> Plot? {
    let lines = results.indices.map { (results[$0].label, HTMLReport.colour($0), points($0, value)) }
    return plot(title, note, quantity, label, lines.filter { $0.2.contains { $0.y != nil } })
  }

  private func points(_ index: Int, _ value: (Step) -> Double?) -> [(x: Double, y: Double?)] {
    steps[index].map { (x: $0.time, y: value($0)) }
  }

  /// Makes a plot; `nil` without values.
  private func plot(
    _ title: String, _ note: String, _ quantity: Quantity, _ label: String,
    _ lines: [(name: String, colour: Int, points: [(x: Double, y: Double?)])]
  ) -> Plot? {
    let values = lines.flatMap { $0.points.compactMap(\.y) }
    guard !values.isEmpty else { return nil }
    let drawn = lines.map { line in
      let runs = line.points.split { $0.y == nil }.map {
        $0.compactMap { point in point.y.map { Plot.Point(x: point.x, y: $0) } }
      }
      return Plot.Line(name: line.name, colour: line.colour, runs: runs, marks: runs.last?.suffix(1) ?? [])
    }
    let slots = Int((length / width).rounded(.up))
    let hints = (0..<slots).map { slot in
      let (from, to) = (Double(slot) * width, Double(slot + 1) * width)
      let values = lines.compactMap { line in
        line.points.first { $0.x > from + 0.01 * width && $0.x <= to + 0.01 * width }?.y.map {
          "\(line.name): \(quantity.text($0))"
        }
      }
      return Plot.Hint(from: from, to: min(to, length), lines: ["\(Quantity.decimal(to, places: 0)) s"] + values)
    }
    return Plot(
      title: title, note: note, x: Self.timeScale(length), xLabel: "time",
      y: scale(values, quantity), yLabel: label, lines: drawn, hints: hints)
  }

  /// The scale of the y axis. Latencies may need a logarithmic scale; all other values have a linear scale from 0.
  private func scale(_ values: [Double], _ quantity: Quantity) -> PlotScale {
    quantity == .microseconds
      ? PlotScale(fitting: values, quantity, count: 4) : PlotScale(upTo: values.max() ?? 1, quantity, count: 4)
  }

  private static func timeScale(_ length: Double) -> PlotScale {
    let minutes = length > 300
    let unit = minutes ? 60.0 : 1
    let round = PlotScale(upTo: length / unit, .count, count: 6)
    let ticks = round.ticks.filter { $0.value * unit <= length * 1.001 && $0.value == $0.value.rounded() }
    return PlotScale(
      .linear, low: 0, high: length,
      ticks: ticks.map { .init(value: $0.value * unit, text: $0.text + (minutes ? " min" : " s")) })
  }
}
