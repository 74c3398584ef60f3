import ArgumentParser
import PawlBench

@main
struct PawlBenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pawl-bench",
    abstract: "Loads an HTTP server as clients do whose transfers break off, and checks what it receives.",
    discussion: """
      Exit status: 0 when everything received was right, 1 when something was wrong or failed, 64 for a command line that \
      makes no sense.
      """,
    subcommands: [
      Hit.self, Ranges.self, Fill.self, Resume.self, Upload.self, Idle.self, OriginCommand.self, Report.self,
    ])
}
