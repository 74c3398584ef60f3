import ArgumentParser
import PawlBench

struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Put results beside each other in one page.",
    discussion: """
      Reads results that runs wrote with --json, and writes a page with their figures, their plots and how they compare \
      to the first of them. Without --html, prints their tables. Exit status 1 when a file cannot be read or is no result.
      """)

  @Argument(help: ArgumentHelp("Results, the one to compare with first.", valueName: "json"), completion: .file())
  var results: [String]

  @Option(help: ArgumentHelp("The page to write; \"-\" is standard output.", valueName: "file"), completion: .file())
  var html: String?

  func run() throws {
    do throws(ReportError) {
      var read: [RunResult] = []
      for path in results { read.append(try JSONReport.parse(ReportFile.read(path), path: path)) }
      if let html { return try ReportFile.write(HTMLReport.text(read), to: html) }
      let tables = read.map(TableReport.text).joined(separator: "\n")
      try ReportFile.write(tables, to: ReportFile.standardOutput)
    } catch {
      ReportFile.tell("pawl-bench: \(error.message)\n")
      throw ExitCode.failure
    }
  }
}
