/// The progress of a run: on a terminal one line that is rewritten every second, elsewhere a line every ten seconds.
package final class ProgressLine: RunObserver {
  private let isTerminal: Bool
  private let write: (String) -> Void
  private var plan: RunPlan?
  /// The samples since the last line.
  private var samples: [RunResult.Sample] = []
  private var completed: UInt64 = 0
  private var failed: UInt64 = 0
  /// The time of the last line, in seconds of the measurement.
  private var lineTime = 0.0

  /// - Parameter write: writes text, which contains its line ends and control sequences.
  package init(isTerminal: Bool, write: @escaping (String) -> Void) {
    (self.isTerminal, self.write) = (isTerminal, write)
  }

  package func runBegan(_ plan: RunPlan) {
    self.plan = plan
    let warmUp = plan.warmUp > 0 ? ", warming up for \(Quantity.seconds.text(plan.warmUp))" : ""
    say("\(plan.scenario) \(TableReport.printable(plan.label))\(warmUp)")
  }

  package func sample(_ sample: RunResult.Sample) {
    samples.append(sample)
    completed &+= sample.completed
    failed &+= sample.failed
    guard isTerminal || samples.count == 10 else { return }
    say(line(now: sample.time))
    lineTime = sample.time
    samples.removeAll(keepingCapacity: true)
  }

  package func runEnded(_ result: RunResult) {
    if isTerminal { write("\r\u{1b}[K") }
  }

  /// Writes a line. On a terminal it is cut at the right edge, because a line that is wrapped into two cannot be replaced by the
  /// next one.
  private func say(_ text: String) {
    write(isTerminal ? "\r\u{1b}[?7l\(text)\u{1b}[K\u{1b}[?7h" : text + "\n")
  }

  private func line(now: Double) -> String {
    let span = max(now - lineTime, 0.001)
    let rate = Double(samples.reduce(0) { $0 &+ $1.completed }) / span
    let bytes = Double(samples.reduce(0) { $0 &+ $1.bytes }) / span
    let medians = samples.map(\.median).sorted()
    var parts = [left(now), Quantity.perSecond.text(rate), Quantity.bytesPerSecond.text(bytes)]
    parts.append("p50 " + Quantity.microseconds.text(medians[medians.count / 2]))
    parts.append(
      (samples.count > 1 ? "p99 up to " : "p99 ") + Quantity.microseconds.text(samples.map(\.p99).max() ?? 0))
    parts.append(Quantity.count.text(failed) + " failed")
    let cpu = samples.compactMap(\.cpu)
    if !cpu.isEmpty { parts.append("CPU " + Quantity.percent.text(cpu.reduce(0, +) / span * 100)) }
    return parts.joined(separator: "  ")
  }

  private func left(_ now: Double) -> String {
    let rest: Double
    switch plan?.length {
    case .seconds(let seconds)?: rest = seconds - now
    case .operations(let count)? where completed &+ failed > 0:
      let done = completed &+ failed
      rest = Double(count - min(count, done)) * now / Double(done)
    case .operations?, nil: return "      ? left"
    }
    let text = Quantity.decimal(max(0, rest), places: 0) + " s left"
    return String(repeating: " ", count: max(0, 12 - text.count)) + text
  }
}
