import Histogram

/// The plots of the distribution of latencies: by percentile, and by frequency.
struct LatencyPlots {
  let results: [RunResult]

  private var measured: [(index: Int, result: RunResult)] {
    results.enumerated().filter { $0.element.latency.totalCount > 0 }.map { (index: $0.offset, result: $0.element) }
  }

  /// The plot that HdrHistogram uses: with each step to the right, latencies become ten times as rare. `nil` if nothing was
  /// measured.
  var byPercentile: Plot? {
    guard let most = measured.map(\.result.latency.totalCount).max() else { return nil }
    let lines = measured.map { entry in
      Plot.Line(
        name: entry.result.label, colour: HTMLReport.colour(entry.index), runs: [Self.quantiles(entry.result.latency)],
        marks: Self.marks(entry.result.latency))
    }
    return Plot(
      title: "Latency by percentile",
      note: "Each step to the right is ten times as rare. The line ends at the slowest of all.",
      size: .full, x: Self.percentileScale(count: most), xLabel: "percentile", y: valueScale, yLabel: "latency",
      lines: lines, hints: percentileHints(count: most))
  }

  /// The scale of the latencies: linear from 0, but logarithmic if the slowest latency would make the others invisible.
  private var valueScale: PlotScale {
    let histograms = measured.map(\.result.latency)
    return PlotScale(fitting: histograms.flatMap { [Double($0.median), Double($0.maxRecorded)] }, .microseconds)
  }

  /// The scale of percentiles. The position of a percentile p is 1/(1-p): 1 is 0 %, 10 is 90 %, 100 is 99 %.
  private static func percentileScale(count: UInt64) -> PlotScale {
    var ticks = [PlotScale.Tick(value: 1, text: "0 %"), .init(value: 2, text: "50 %"), .init(value: 4, text: "75 %")]
    var (position, digits) = (10.0, "90")
    let high = max(100, Double(count))
    while position <= high {
      ticks.append(PlotScale.Tick(value: position, text: digits + " %"))
      digits = digits == "90" ? "99" : digits == "99" ? "99.9" : digits + "9"
      position *= 10
    }
    return PlotScale(.logarithmic, low: 1, high: high, ticks: ticks)
  }

  /// Returns the line of the plot, with a step at each value. Steps that are too close to be distinguished are left out.
  private static func quantiles(_ histogram: Histogram<UInt32>) -> [Plot.Point] {
    let total = histogram.totalCount
    var (before, points) = (UInt64(0), [Plot.Point]())
    var drawn = -1.0
    for (value, count) in histogram.pairs {
      let point = Plot.Point(x: Double(total) / Double(total - before), y: Double(value))
      before += UInt64(count)
      let place = PlotScale.log10(point.x)
      guard place - drawn > 0.004 || before == total else { continue }
      drawn = place
      if let last = points.last { points.append(Plot.Point(x: point.x, y: last.y)) }
      points.append(point)
    }
    if let last = points.last { points.append(Plot.Point(x: Double(total), y: last.y)) }
    return points
  }

  private static func marks(_ histogram: Histogram<UInt32>) -> [Plot.Point] {
    let positions = RunResult.percentiles.filter { $0.value != 75 }.map { (100 / (100 - $0.value), $0.value) }
    return positions.filter { $0.0 <= Double(histogram.totalCount) }.map {
      Plot.Point(x: $0.0, y: Double(histogram.valueAtPercentile($0.1)))
    }
  }

  private func percentileHints(count: UInt64) -> [Plot.Hint] {
    let percentiles = [0, 25, 50, 60, 70, 75, 80, 85, 90, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999]
    let inside = percentiles.filter { 100 / (100 - $0) <= Double(count) }
    return inside.enumerated().map { index, percentile in
      let next = index + 1 < inside.count ? 100 / (100 - inside[index + 1]) : Double(max(100, count))
      let values = measured.map { entry in
        "\(entry.result.label): \(Quantity.microseconds.text(entry.result.latency.valueAtPercentile(percentile)))"
      }
      return Plot.Hint(from: 100 / (100 - percentile), to: next, lines: [Quantity.percent.text(percentile)] + values)
    }
  }

  /// The plot of the share of all operations in each range of latencies.
  var spread: Plot? {
    guard !measured.isEmpty else { return nil }
    let step = 1.1220184543019633  // Twenty steps from one power of ten to the next.
    let fastest = max(1, Double(measured.map(\.result.latency.min).min() ?? 1))
    // Above the 99.99th percentile the shares are too small to be visible.
    let slowest = max(fastest, measured.map { Double($0.result.latency.valueAtPercentile(99.99)) }.max() ?? fastest)
    var edges = [fastest / step / step]
    while let last = edges.last, last < slowest * step, edges.count < 400 { edges.append(last * step) }
    let shares = measured.map { Self.shares($0.result.latency, edges) }
    let lines = zip(measured, shares).map { entry, shares in
      Plot.Line(
        name: entry.result.label, colour: HTMLReport.colour(entry.index), runs: [Self.steps(edges, shares)],
        isFilled: measured.count < 3)
    }
    let hints = edges.indices.dropLast().map { index in
      let range =
        "\(Quantity.microseconds.text(edges[index].rounded())) to \(Quantity.microseconds.text(edges[index + 1].rounded()))"
      let values = zip(measured, shares).map { "\($0.result.label): \(Quantity.percent.text($1[index]))" }
      return Plot.Hint(from: edges[index], to: edges[index + 1], lines: [range] + values)
    }
    let decades = PlotScale(logarithmicFrom: edges[0], to: slowest * step, .microseconds)
    let (low, high) = (edges[0], edges.last ?? slowest)
    return Plot(
      title: "Spread of latencies", note: "Share of all in each of twenty steps from one power of ten to the next.",
      x: PlotScale(
        .logarithmic, low: low, high: high, ticks: decades.ticks.filter { $0.value >= low && $0.value <= high }),
      xLabel: "latency", y: PlotScale(upTo: shares.joined().max() ?? 1, .percent), yLabel: "share",
      lines: lines, hints: hints)
  }

  /// Returns the percentage of operations between each two neighbouring edges.
  private static func shares(_ histogram: Histogram<UInt32>, _ edges: [Double]) -> [Double] {
    var shares = [Double](repeating: 0, count: max(0, edges.count - 1))
    var slot = 0
    for (value, count) in histogram.pairs {
      while slot + 1 < shares.count, edges[slot + 1] <= Double(value) { slot += 1 }
      guard slot < shares.count, Double(value) < edges[slot + 1] else { break }
      shares[slot] += Double(count) / Double(histogram.totalCount) * 100
    }
    return shares
  }

  private static func steps(_ edges: [Double], _ shares: [Double]) -> [Plot.Point] {
    shares.enumerated().flatMap { index, share in
      [Plot.Point(x: edges[index], y: share), Plot.Point(x: edges[index + 1], y: share)]
    }
  }
}
