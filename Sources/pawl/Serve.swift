import ArgumentParser
import PawlConfig
import PawlLoop

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the proxy in the foreground.",
    discussion: """
      Prints "Ready: http://ADDRESS" for every address once it accepts connections. SIGTERM or Ctrl-C lets running \
      transfers finish for up to drain-timeout; SIGHUP reads the configuration again.

      Without a file, --to names the application; everything else has its default:
        pawl serve --to http://127.0.0.1:9000 --listen 127.0.0.1:8080 --state /tmp/pawl
      """)

  @Option(
    name: [.short, .long], help: ArgumentHelp("Serve as this file says.", valueName: "file"), completion: .file())
  var config: String?

  @Option(help: ArgumentHelp("Serve without a file, in front of the application at this URL.", valueName: "url"))
  var to: String?

  @Option(
    help: ArgumentHelp(
      "With --to: listen here (repeatable; default 127.0.0.1:8080; port 0 picks one).", valueName: "address"))
  var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "With --to: keep the cache here (default /var/lib/pawl as root, else ./pawl-state).", valueName: "dir"),
    completion: .directory)
  var state: String?

  func validate() throws {
    switch (config, to) {
    case (nil, nil): throw ValidationError("Say what to serve: --config FILE or --to URL.")
    case (.some, .some): throw ValidationError("--config and --to exclude each other.")
    case (.some, nil) where !listen.isEmpty || state != nil:
      throw ValidationError("--listen and --state go with --to; with --config the file says both.")
    case (.some, nil), (nil, .some): break
    }
  }

  func run() throws {
    Predecessor.stepAside()
    let source: ConfigurationSource =
      if let config {
        .file(path: config)
      } else {
        .commandLine(url: to ?? "", listen: listen, stateDirectory: state)
      }
    try exiting { () throws(RunFailure) in
      do throws(RunFailure) {
        try runServer(configuration: try source.loadOrFail(), source: source)
      } catch {
        // Known to the process that this one was to take over from, which logs it.
        Predecessor.saysFailedEarly(error.summary)
        throw error
      }
    }
  }
}
