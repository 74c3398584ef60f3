import ArgumentParser

struct Demo: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "See broken transfers survive: a built-in bad origin, and pawl before it.",
    discussion: """
      The origin behaves like an old application: it knows no ranges and no validators, and breaks off at random. \
      pawl stands before it, on a free port of this machine. You get a list of commands to try, and see one download \
      and one upload that are interrupted and resumed. Ctrl-C ends it and leaves nothing behind.
      """)

  @Flag(help: "End after the transfers that pawl shows by itself; exit status 0 when they were complete and right.")
  var once = false

  @Option(help: ArgumentHelp("Listen here.", valueName: "address"))
  var listen = "127.0.0.1:0"

  func run() throws {
    try exiting { () throws(RunFailure) in try runDemo(options: DemoOptions(once: once, listen: listen)) }
  }
}

/// The options of `pawl demo`.
struct DemoOptions: Sendable {
  /// Whether to end after the transfers that are shown.
  var once: Bool
  /// The address to listen on, `ADDRESS:PORT`; with port 0 the system picks one.
  var listen: String
}
