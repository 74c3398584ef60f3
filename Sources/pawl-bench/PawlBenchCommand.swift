import ArgumentParser
import PawlBench

@main
struct PawlBenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pawl-bench", abstract: "Loads an HTTP server as clients do whose transfers break off, and checks what it receives.")
}
