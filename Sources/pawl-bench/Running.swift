import ArgumentParser
import PawlBench

/// Runs what a subcommand has put together, and ends the process as its result says: 1 when anything was wrong.
func start(_ settings: RunSettings, _ report: ReportOptions) throws {
  var settings = settings
  if let label = report.label { settings.label = label }
  let (observer, meter) = (report.makeObserver(), try report.makeMeter())
  let result: RunResult
  do throws(RunProblem) {
    result = try Run(settings, observer: observer, meter: meter).perform()
  } catch {
    throw Trouble(description: error.description)
  }
  if !observer.failures.isEmpty || !result.counts.failures.isEmpty || result.counts.completed == 0 { throw ExitCode(1) }
}

/// A sentence on standard error, and exit status 1.
struct Trouble: Error, CustomStringConvertible {
  let description: String
}
