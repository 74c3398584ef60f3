import ArgumentParser
import PawlBench

/// Performs the run of a subcommand. Ends the process with status 1 if anything was wrong.
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

/// An error with a sentence for standard error, and exit status 1.
struct Trouble: Error, CustomStringConvertible {
  let description: String
}
