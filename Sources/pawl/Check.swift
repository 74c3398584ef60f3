import ArgumentParser
import CLinux
import PawlCertificates
import PawlConfig
import PawlServer

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a configuration file.",
    discussion: """
      Reads the file and everything it includes, and prints every mistake with its file and line. Also reads the \
      certificates and keys: each key has to belong to its certificate, and a certificate that expires within 30 days \
      is warned of. Exit status 0 when all is valid, warnings or not, 78 when it is not. Opens no address and writes \
      nothing.
      """)

  @Option(name: [.short, .long], help: ArgumentHelp("The file to check.", valueName: "file"))
  var config: String

  func run() throws {
    var lines: [String] = []
    let configuration = try ConfigurationSource.file(path: config).loadOrExit { configuration in
      let check = CertificateCheck(configuration, now: Int64(time(nil)))
      lines = check.lines
      return check.issues
    }
    print("\(config): valid")
    print(ConfigurationReport.contents(of: configuration))
    for line in lines { print(line) }
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
