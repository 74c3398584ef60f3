import ArgumentParser
import PawlConfig

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a configuration file.",
    discussion: """
      Reads the file and everything it includes, and prints every mistake with its file and line. Exit status 0 when \
      it is valid, 78 when it is not. Opens no address and writes nothing.
      """)

  @Option(name: [.short, .long], help: ArgumentHelp("The file to check.", valueName: "file"))
  var config: String

  func run() throws {
    let configuration = try ConfigurationSource.file(path: config).loadOrExit()
    print("\(config): valid")
    print(ConfigurationReport.contents(of: configuration))
  }
}

struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the configuration in effect.",
    discussion: """
      Prints every section with every key, the value in effect and, after "#", where it comes from: a file and line, or \
      the built-in default. A route shows what it inherits from its site.
      """)

  @Option(name: [.short, .long], help: ArgumentHelp("The file to read.", valueName: "file"))
  var config: String

  func run() throws {
    let configuration = try ConfigurationSource.file(path: config).loadOrExit()
    print(ConfigurationReport.effective(configuration), terminator: "")
  }
}
