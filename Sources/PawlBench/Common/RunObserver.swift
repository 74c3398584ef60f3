/// The facts of a run that are known before it begins.
package struct RunPlan: Hashable, Sendable {
  package enum Length: Hashable, Sendable {
    case seconds(Double)
    /// A number of operations: requests, downloads or uploads, depending on the scenario.
    case operations(UInt64)
  }

  /// The scenario, the label and the URL, as in ``RunResult``.
  package var scenario: String
  package var label: String
  package var url: String
  package var length: Length
  /// Seconds of load before the measurement begins; the warm-up has no samples.
  package var warmUp: Double
  /// The name of one operation in a progress line: `request`, `download`, `upload`, `connection`.
  package var operation: String

  package init(scenario: String, label: String, url: String, length: Length, warmUp: Double, operation: String) {
    (self.scenario, self.label, self.url) = (scenario, label, url)
    (self.length, self.warmUp, self.operation) = (length, warmUp, operation)
  }
}

/// An object that follows a run, such as the progress line. Called on the thread that coordinates the run.
package protocol RunObserver: AnyObject {
  /// Called before the warm-up, and before the first connection of the load.
  func runBegan(_ plan: RunPlan)
  /// Called once for each second of the measurement, in order.
  func sample(_ sample: RunResult.Sample)
  /// Called last, also if the run was ended early. The table and the files are made from `result`.
  func runEnded(_ result: RunResult)
}

/// The resources that a process and its children have used so far.
package struct ProcessReading: Hashable, Sendable {
  package var processes: Int
  /// CPU seconds in user and in kernel mode since the start of the processes.
  package var user: Double
  package var system: Double
  /// The present memory in bytes; ``RunResult/ProcessUse`` explains which memory counts.
  package var memory: UInt64

  package init(processes: Int, user: Double, system: Double, memory: UInt64) {
    (self.processes, self.user, self.system, self.memory) = (processes, user, system, memory)
  }
}

/// Measures the server's process (option `--process`). Called on the coordinating thread, once a second at most.
package protocol ProcessMeter: AnyObject {
  /// Returns `nil` if the process has ended or may not be read.
  func read() -> ProcessReading?
}
