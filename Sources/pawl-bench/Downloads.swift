import ArgumentParser
import PawlBench

struct Ranges: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Random ranges of one body, one or several in a request.",
    discussion: """
      Each answer has to be 206 with the right Content-Range and the right bytes; of several ranges each part is checked.

        pawl-bench ranges http://127.0.0.1:8080/film.mp4 --size 64K
        pawl-bench ranges http://127.0.0.1:8080/film.mp4 --size 1K --parts 8 --file film.mp4
      """)

  @Argument(help: "What to load.")
  var url: String
  @Option(help: ArgumentHelp("Bytes of a range: a number, or one with K, M or G.", valueName: "bytes"))
  var size = Bytes(64 << 10)
  @Option(help: ArgumentHelp("Ranges in one request.", valueName: "number"))
  var parts = 1
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try LoadOptions.check(parts >= 1 && parts <= 256, "--parts is between 1 and 256")
    try LoadOptions.check(size.count >= 1, "--size is at least 1")
  }

  func run() throws { try start(load.settings(.ranges(size: size.count, parts: parts), url), report) }
}

struct Fill: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bodies that the server does not have yet, with several readers at once.",
    discussion: """
      {n} in the URL is replaced by a new number for each body; --readers connections ask for it at once and go on to the \
      next one when all have it. Bodies are compared with --file or --reference, or else among their readers. With \
      'pawl-bench origin' behind the server its /count tells how often the server asked.

        pawl-bench fill 'http://127.0.0.1:8080/bytes/100M/{n}' --readers 10 -n 100
      """)

  @Argument(help: "What to load, with {n} in it.")
  var url: String
  @Option(help: "The first number.")
  var first: UInt64 = 1
  @Option(help: "Clients at once on each body; --connections is a multiple of it, or as many by default.")
  var readers = 1
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try LoadOptions.check(url.contains("{n}"), "the URL of 'fill' holds {n}, which becomes a number")
    try LoadOptions.check(readers >= 1 && readers <= 65_536, "--readers is at least 1")
    try LoadOptions.check(load.rate == nil, "--rate is not for 'fill': readers wait for one another")
    try LoadOptions.check(
      connections % readers == 0 && load.threads <= connections / readers,
      "--connections is a multiple of --readers, and each thread has a whole one")
  }

  private var connections: Int { load.connections ?? readers }

  func run() throws {
    var settings = try load.settings(.fill(first: first, readers: readers), url)
    settings.connections = connections
    try start(settings, report)
  }
}

struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Downloads that the client breaks off and resumes.",
    discussion: """
      Each download is broken off --interruptions times at random places and taken up again with Range and If-Range; \
      together the pieces have to be the body. Breaks that the server makes are resumed, too, and told.

        pawl-bench resume http://127.0.0.1:8080/image.iso --interruptions 5 -c 8 -n 100
      """)

  @Argument(help: "What to load.")
  var url: String
  @Option(help: ArgumentHelp("Cuts in each download.", valueName: "number"))
  var interruptions = 1
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try LoadOptions.check(interruptions >= 0 && interruptions <= 100_000, "--interruptions is between 0 and 100000")
  }

  func run() throws { try start(load.settings(.resume(interruptions: interruptions), url), report) }
}

struct Idle: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Connections that are kept and on which nothing happens.",
    discussion: """
      Opens --connections connections, sends one request on each and holds them for --duration. With --process it tells the \
      server's memory a connection, and its CPU meanwhile.

        pawl-bench idle http://127.0.0.1:8080/ -c 10000 -d 10 --process $(pidof pawl)
      """)

  @Argument(help: "What to ask for once on each connection.")
  var url: String
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func validate() throws {
    try LoadOptions.check(
      load.requests == nil && load.rate == nil && load.warmUp == 0,
      "--requests, --rate and --warm-up are not for 'idle'")
  }

  func run() throws { try start(load.settings(.idle, url), report) }
}
