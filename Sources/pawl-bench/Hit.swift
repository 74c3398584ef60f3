import ArgumentParser
import PawlBench

struct Hit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The same answer again and again.",
    discussion: """
      The answer is loaded once before the run (or read from --file, or loaded from --reference); every further one has to \
      be 200 and the same, byte by byte.

        pawl-bench hit http://127.0.0.1:8080/logo.png -c 64 -d 10
        pawl-bench hit https://example.org/ --http2 --streams 10 --rate 2000 --warm-up 2 -d 30
      """)

  @Argument(help: "What to load.")
  var url: String
  @OptionGroup var load: LoadOptions
  @OptionGroup var report: ReportOptions

  func run() throws { try start(load.settings(.hit, url), report) }
}
