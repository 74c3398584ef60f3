import Testing

@testable import PawlBench

@Suite("Progress") struct ProgressLineTests {
  private final class Screen { var text: [String] = [] }

  private func line(_ screen: Screen, isTerminal: Bool) -> ProgressLine {
    ProgressLine(isTerminal: isTerminal) { screen.text.append($0) }
  }

  private func plan(_ length: RunPlan.Length, warmUp: Double = 0) -> RunPlan {
    RunPlan(scenario: "hit", label: "pawl", url: "http://a/", length: length, warmUp: warmUp, operation: "request")
  }

  private func sample(_ time: Double, completed: UInt64 = 45_231, failed: UInt64 = 0, cpu: Double? = 0.87)
    -> RunResult.Sample
  {
    var sample = RunResult.Sample(time: time, completed: completed, failed: failed, bytes: completed * 1024)
    (sample.median, sample.p99, sample.cpu) = (834, 2100 + UInt64(time), cpu)
    return sample
  }

  @Test("on a terminal is one line that every second takes the place of the one before")
  func terminal() {
    let screen = Screen()
    let line = line(screen, isTerminal: true)
    line.runBegan(plan(.seconds(12), warmUp: 2))
    line.sample(sample(1))
    line.sample(sample(2, failed: 3, cpu: nil))
    line.runEnded(MadeUpResults.small)
    #expect(
      screen.text == [
        "\r\u{1b}[?7lhit pawl, warming up for 2.00 s\u{1b}[K\u{1b}[?7h",
        "\r\u{1b}[?7l   11 s left  45,231/s  44.2 MiB/s  p50 834 µs  p99 2.10 ms  0 failed  CPU 87.0 %\u{1b}[K\u{1b}[?7h",
        "\r\u{1b}[?7l   10 s left  45,231/s  44.2 MiB/s  p50 834 µs  p99 2.10 ms  3 failed\u{1b}[K\u{1b}[?7h",
        "\r\u{1b}[K",
      ])
  }

  @Test("elsewhere is a line for every ten seconds")
  func lines() {
    let screen = Screen()
    let line = line(screen, isTerminal: false)
    line.runBegan(plan(.operations(1_000_000)))
    for time in 1...25 { line.sample(sample(Double(time), completed: 20_000, failed: time == 3 ? 5 : 0)) }
    line.runEnded(MadeUpResults.small)
    #expect(
      screen.text == [
        "hit pawl\n",
        "   40 s left  20,000/s  19.5 MiB/s  p50 834 µs  p99 up to 2.11 ms  5 failed  CPU 87.0 %\n",
        "   30 s left  20,000/s  19.5 MiB/s  p50 834 µs  p99 up to 2.12 ms  5 failed  CPU 87.0 %\n",
      ])
  }

  @Test("does not guess the end before anything has been completed, and never says that less than nothing is left")
  func unknownEnd() {
    let screen = Screen()
    let line = line(screen, isTerminal: true)
    line.runBegan(plan(.operations(10)))
    line.sample(sample(1, completed: 0, cpu: nil))
    line.sample(sample(2, completed: 20, cpu: nil))
    #expect(screen.text[1].contains("      ? left  0/s") && screen.text[2].contains("    0 s left  20.0/s"))
  }
}
