import ArgumentParser
import PawlBench

struct OriginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "origin", abstract: "A fast origin to put behind the server that is tested.",
    discussion: """
      GET /bytes/SIZE[/NAME] gives a body of that size (1000, 64K, 100M, 2G), the same for every name. After a question mark, \
      joined with &: validators=none (no ETag, no Last-Modified), ranges=no, cache=no (no-store), cut=N (each answer breaks \
      off after N bytes), delay=MS (before each answer). POST or PUT to anything: the content is read, counted and hashed; \
      Bench-Length and Bench-XXH3 in the answer say what came. GET /count tells what was asked for until now.

        pawl-bench origin --listen 127.0.0.1:9000
        curl 'http://127.0.0.1:9000/bytes/10M?cut=1M' -o /dev/null
      """)

  @Option(help: ArgumentHelp("Address and port; port 0 is one that is free.", valueName: "address"))
  var listen = "127.0.0.1:0"
  @Option(help: "Threads.")
  var threads = 1
  @Option(help: ArgumentHelp("Run on this core, further threads on the next ones.", valueName: "number"))
  var core: Int?

  func validate() throws {
    try LoadOptions.check(threads >= 1 && threads <= 256, "--threads is between 1 and 256")
  }

  func run() throws {
    do throws(RunProblem) {
      let origin = try Origin(listen: listen, threads: threads, core: core)
      let host = listen[..<(listen.lastIndex(of: ":") ?? listen.endIndex)]
      Origin.announce("listening on http://\(host):\(origin.port)")
      try origin.waitForSignal()
      origin.stop()
      Origin.announce(String(origin.countsText.dropLast()))
    } catch { throw Trouble(description: error.description) }
  }
}
