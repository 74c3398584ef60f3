import ArgumentParser

@main
struct Pawl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pawl",
    abstract: "A reverse proxy that makes downloads from and uploads to any application resumable.",
    discussion: """
      See it, in a minute:
        pawl demo

      Before an application that listens on port 9000, with no file at all:
        pawl serve --to http://127.0.0.1:9000

      With a file, of which four lines are enough:
        [upstream:app]
        url = http://127.0.0.1:9000
        [site:default]
        upstream = app

        pawl check --config pawl.ini     every mistake at once; words of nginx and others are answered with pawl's
        pawl serve --config pawl.ini     SIGTERM ends it, SIGHUP reads the file again

      Exit status: 0 done, 1 failed while running, 64 wrong use of the command line, 69 the machine stands \
      in the way (an address, a directory, a log, a user) or no server runs, 78 the configuration is not valid.
      """,
    version: ComponentVersions.pawl,
    subcommands: [
      Serve.self, Check.self, Config.self, Status.self, Top.self, Transfers.self, Uploads.self, Reload.self, Stop.self,
      Upgrade.self, ReopenLogs.self, LogLevelCommand.self, Version.self, Demo.self,
    ])

  static func main() {
    var ending: (any Error)?
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch { ending = error }
    let code = ending.map { exitCode(for: $0) } ?? .success
    // The text of --help and --version.
    if let ending, code == .success { print(fullMessage(for: ending)) }
    do throws(ExitCode) { try exiting { () throws(RunFailure) in try Output.flush() } } catch {
      exit(withError: code == .success ? error : code)
    }
    if let ending, code != .success { exit(withError: ending) }
  }
}
