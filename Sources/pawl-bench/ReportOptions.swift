import ArgumentParser
import PawlBench

/// How a run is told.
struct ReportOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Follow this process: CPU and memory.", valueName: "pid"))
  var process: Int32?

  @Option(help: "What the server is called in tables.")
  var label: String?

  func makeObserver() -> any RunObserver { PlainObserver() }
  func makeMeter() throws -> (any ProcessMeter)? { nil }
}

/// A line for each second and a few at the end.
private final class PlainObserver: RunObserver {
  func runBegan(_ plan: RunPlan) { print("\(plan.scenario) \(plan.url)") }
  func sample(_ sample: RunResult.Sample) {
    print("\(sample.time) \(sample.completed) ok \(sample.failed) failed \(sample.octets) B p50 \(sample.median) p99 \(sample.p99) max \(sample.slowest) us")
  }
  func runEnded(_ result: RunResult) {
    let rate = Double(result.counts.completed) / result.seconds
    print("completed \(result.counts.completed) in \(result.seconds) s: \(rate)/s, \(Double(result.counts.received) / result.seconds / 1e6) MB/s in, \(Double(result.counts.sent) / result.seconds / 1e6) MB/s out")
    print("counts \(result.counts)")
    print("latency us: p50 \(result.latency.valueAtPercentile(50)) p99 \(result.latency.valueAtPercentile(99)) p99.9 \(result.latency.valueAtPercentile(99.9)) max \(result.latency.max); first byte p50 \(result.firstByte.valueAtPercentile(50))")
    for extra in result.extras { print("\(extra.name): \(extra.value) \(extra.unit)") }
  }
}
