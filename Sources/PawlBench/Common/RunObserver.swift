/// What is known of a run before it begins.
package struct RunPlan: Hashable, Sendable {
  package enum Length: Hashable, Sendable {
    case seconds(Double)
    /// Operations: requests, downloads or uploads, as the scenario counts.
    case operations(UInt64)
  }

  /// As in ``RunResult``.
  package var scenario: String
  package var label: String
  package var url: String
  package var length: Length
  /// Seconds before the measurement begins; no sample comes in them.
  package var warmUp: Double
  /// What one operation is called in a progress line: `request`, `download`, `upload`, `connection`.
  package var operation: String

  package init(scenario: String, label: String, url: String, length: Length, warmUp: Double, operation: String) {
    (self.scenario, self.label, self.url) = (scenario, label, url)
    (self.length, self.warmUp, self.operation) = (length, warmUp, operation)
  }
}

/// Who follows a run: the progress line. Called on the thread that coordinates it.
package protocol RunObserver: AnyObject {
  /// Before the first connection, warm-up included.
  func runBegan(_ plan: RunPlan)
  /// Once for each second of the measurement, in order.
  func sample(_ sample: RunResult.Sample)
  /// Last call, also when the run was ended early; `result` is what the table and the files are made of.
  func runEnded(_ result: RunResult)
}

/// What a process and its children have spent until now.
package struct ProcessReading: Hashable, Sendable {
  package var processes: Int
  /// CPU seconds in user and in kernel mode since their start.
  package var user: Double
  package var system: Double
  /// Bytes of memory now; ``RunResult/ProcessUse`` says which.
  package var memory: UInt64

  package init(processes: Int, user: Double, system: Double, memory: UInt64) {
    (self.processes, self.user, self.system, self.memory) = (processes, user, system, memory)
  }
}

/// Reads what the server's process spends: `--process`. Called on the coordinating thread, once a second at most.
package protocol ProcessMeter: AnyObject {
  /// `nil` when the process is gone or may not be looked at.
  func read() -> ProcessReading?
}
