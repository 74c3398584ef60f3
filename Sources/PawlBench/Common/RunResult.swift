package import Histogram

/// The result of one run of a scenario: the table, the JSON and the HTML report are made from it.
package struct RunResult: Sendable {
  /// The name of the scenario on the command line: `hit`, `ranges`, `fill`, `resume`, `upload`, `idle`.
  package var scenario: String
  /// The name of the server in tables and plots: `--label`, or the URL's authority.
  package var label: String
  package var url: String
  /// Settings that affect the measurement, in the order of the manual: `("connections", "64")`.
  package var settings: [(name: String, value: String)] = []
  /// The start of the measurement: wall clock, milliseconds since 1970.
  package var startedAt: Int64
  /// The measured seconds, without the warm-up.
  package var seconds: Double = 0
  package var counts = Counts()
  /// Latencies in microseconds, from the moment a request was due (open loop) or sent (closed loop) to the last byte of its
  /// response.
  package var latency: Histogram<UInt32>
  /// Times to the first byte of the response, in microseconds.
  package var firstByte: Histogram<UInt32>
  /// One sample for each second, in order.
  package var samples: [Sample] = []
  /// The resources that the server's process and its children used; `nil` without `--process`.
  package var process: ProcessUse?
  /// Further facts of a scenario, in order: `("bytes sent again", 65536, "B")`.
  package var extras: [Extra] = []

  package struct Counts: Hashable, Sendable {
    package var requests: UInt64 = 0
    /// Operations whose response was complete and right.
    package var completed: UInt64 = 0
    /// Failed operations by kind: `connect`, `timeout`, `status 503`, `cut`, `wrong-content`, `protocol`.
    package var failures: [String: UInt64] = [:]
    package var connections: UInt64 = 0
    /// Bytes of content received and sent, without heads.
    package var received: UInt64 = 0
    package var sent: UInt64 = 0
    /// Interruptions that this tool made on purpose.
    package var interruptions: UInt64 = 0
    /// Bytes of content that were compared with the expected content.
    package var verified: UInt64 = 0

    package init() {}
  }

  package struct Sample: Hashable, Sendable {
    /// Seconds since the start of the measurement.
    package var time: Double
    package var completed: UInt64
    package var failed: UInt64
    package var bytes: UInt64
    /// The latencies of the operations that ended in this second, in microseconds.
    package var median: UInt64
    package var p99: UInt64
    package var slowest: UInt64
    /// CPU seconds of the server's process in this second; `nil` without a process.
    package var cpu: Double?
    /// The memory of the server's process at the end of this second, in bytes (``ProcessUse`` explains which memory counts).
    package var memory: UInt64?

    package init(time: Double, completed: UInt64 = 0, failed: UInt64 = 0, bytes: UInt64 = 0) {
      (self.time, self.completed, self.failed, self.bytes) = (time, completed, failed, bytes)
      (median, p99, slowest, cpu, memory) = (0, 0, 0, nil, nil)
    }
  }

  /// The resources that the process and its children used during the measurement (`/proc/PID/stat`, `schedstat`,
  /// `smaps_rollup`).
  package struct ProcessUse: Hashable, Sendable {
    package var processes: Int
    /// CPU seconds in user and in kernel mode.
    package var user: Double
    package var system: Double
    /// The memory in bytes before the run, at its maximum, and after it. `Pss` where the kernel has it, so that shared pages
    /// count once; otherwise RSS.
    package var memoryBefore: UInt64
    package var memoryPeak: UInt64
    package var memoryAfter: UInt64

    package init(processes: Int, user: Double, system: Double, before: UInt64, peak: UInt64, after: UInt64) {
      (self.processes, self.user, self.system) = (processes, user, system)
      (memoryBefore, memoryPeak, memoryAfter) = (before, peak, after)
    }
  }

  package struct Extra: Hashable, Sendable {
    package var name: String
    package var value: Double
    /// The unit: `B`, `s`, `us`, `%`, or empty for a count.
    package var unit: String

    package init(_ name: String, _ value: Double, _ unit: String = "") {
      (self.name, self.value, self.unit) = (name, value, unit)
    }
  }

  package init(scenario: String, label: String, url: String, startedAt: Int64) {
    (self.scenario, self.label, self.url, self.startedAt) = (scenario, label, url, startedAt)
    latency = Self.emptyHistogram()
    firstByte = Self.emptyHistogram()
  }

  /// Makes a histogram from one microsecond to one hour, with three significant digits.
  package static func emptyHistogram() -> Histogram<UInt32> {
    Histogram(highestTrackableValue: 3_600_000_000, numberOfSignificantValueDigits: .three)
  }
}
