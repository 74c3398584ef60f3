import ArgumentParser
import PawlBench

/// The options for the outputs of a run, and for the measured process.
struct ReportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server's process: its CPU and memory are measured, those of its children included.", valueName: "pid"))
  var process: Int32?

  @Option(
    help: ArgumentHelp(
      "What the server is called in the report; by default the URL's host and port.", valueName: "name"))
  var label: String?

  @Option(
    help: ArgumentHelp("Write the result as JSON; \"-\" is standard output.", valueName: "file"), completion: .file())
  var json: String?

  @Option(
    help: ArgumentHelp("Write the result as a page with plots; \"-\" is standard output.", valueName: "file"),
    completion: .file())
  var html: String?

  @Flag(name: [.short, .long], help: "Show no progress.")
  var quiet = false

  func validate() throws {
    if json == ReportFile.standardOutput, html == ReportFile.standardOutput {
      throw ValidationError("Only one of --json and --html can be standard output.")
    }
    do throws(ReportError) {
      for path in [json, html].compactMap(\.self) { try ReportFile.checkWritable(path) }
    } catch { throw ValidationError(error.message) }
    _ = try makeMeter()
  }

  /// Makes the outputs: progress on standard error unless `--quiet`, and at the end the table and the files.
  func makeObserver() -> ReportOutput { ReportOutput(isQuiet: quiet, json: json, html: html) }

  /// Makes the meter of the process; `nil` without `--process`.
  func makeMeter() throws -> (any ProcessMeter)? {
    guard let process else { return nil }
    do throws(ProcessError) { return try ProcessTree(pid: process) } catch {
      throw ValidationError("--process: \(error.message).")
    }
  }
}
