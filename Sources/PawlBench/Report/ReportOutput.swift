import CLinux

/// All outputs of a run: the progress line, the table, and the files from the command line.
package final class ReportOutput: RunObserver {
  private let progress: ProgressLine?
  private let json: String?
  private let html: String?
  private let print: (String) throws(ReportError) -> Void
  private let complain: (String) -> Void
  /// The errors of outputs that could not be written.
  package private(set) var failures: [ReportError] = []

  /// - Parameters:
  ///   - json: the path of the JSON report; `-` is standard output, on which no table is written then.
  ///   - html: the path of the HTML report; `-` as for `json`.
  package init(
    progress: ProgressLine?, json: String?, html: String?,
    print: @escaping (String) throws(ReportError) -> Void = { text throws(ReportError) in
      try ReportFile.write(text, to: ReportFile.standardOutput)
    },
    complain: @escaping (String) -> Void = ReportFile.tell
  ) {
    (self.progress, self.json, self.html) = (progress, json, html)
    (self.print, self.complain) = (print, complain)
  }

  /// Writes to the standard streams of this program.
  package convenience init(isQuiet: Bool, json: String?, html: String?) {
    let line = isQuiet ? nil : ProgressLine(isTerminal: isatty(STDERR_FILENO) == 1, write: ReportFile.tell)
    self.init(progress: line, json: json, html: html)
  }

  package func runBegan(_ plan: RunPlan) { progress?.runBegan(plan) }

  package func sample(_ sample: RunResult.Sample) { progress?.sample(sample) }

  package func runEnded(_ result: RunResult) {
    progress?.runEnded(result)
    if json != ReportFile.standardOutput, html != ReportFile.standardOutput { put(TableReport.text(result), nil) }
    if let json { put(JSONReport.text(result), json) }
    if let html { put(HTMLReport.text([result]), html) }
  }

  private func put(_ text: String, _ path: String?) {
    do throws(ReportError) {
      guard let path, path != ReportFile.standardOutput else { return try print(text) }
      try ReportFile.write(text, to: path)
    } catch {
      failures.append(error)
      complain("pawl-bench: \(error.message)\n")
    }
  }
}
