import ArgumentParser
import CLinux
import PawlCertificates
import PawlConfig
import PawlServer

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a configuration file, and whether this machine can serve it.",
    discussion: """
      Prints every mistake at once: FILE:LINE: [section] key: what is wrong, and what is meant. Words of nginx, HAProxy, \
      Caddy, Varnish and others are answered with the key that pawl has for them.

      Three things are checked:
        the file and all that it includes, and doubtful settings, such as path = /api/ without a star
        certificates and keys: whether they belong together, names, and what expires within 30 days
        this machine, as serve would use it: directories and their rights, free space, the log file, addresses, \
      names of upstreams; keys are read as the user that pawl will run as

      Nothing is written, made or left listening. It works beside a running pawl, whose addresses and directories are \
      then in use rightly. With --offline the machine is left out: for files that are meant for another one.

      Exit status: 0 if pawl could serve the file, warnings or not; 78 if the file, a certificate or a key is not valid; \
      69 if only this machine stands in the way.
      """)

  @Option(name: [.short, .long], help: ArgumentHelp("The file to check.", valueName: "file"), completion: .file())
  var config: String

  @Flag(help: "Check only the file, certificates and keys, and try nothing of this machine.")
  var offline = false

  func run() throws {
    let configuration: Configuration
    do throws(InvalidConfiguration) { configuration = try ConfigurationSource.file(path: config).load() } catch {
      printError(ConfigurationReport.issues(error.issues))
      throw ExitStatus.configuration.code
    }
    let certificates = CertificateCheck(configuration, now: Int64(time(nil)))
    let machine = offline ? nil : MachineCheck(configuration)
    let issues = configuration.warnings + certificates.issues + (machine?.issues ?? [])
    if certificates.issues.contains(where: { $0.severity == .error }) {
      printError(ConfigurationReport.issues(issues))
      throw ExitStatus.configuration.code
    }
    if machine?.hasErrors == true {
      let verdict = "configuration valid, but this machine cannot serve it"
      printError(ConfigurationReport.issues(issues, unusable: verdict))
      throw ExitStatus.unavailable.code
    }
    if !issues.isEmpty { printError(ConfigurationReport.issues(issues)) }
    print("\(config): valid")
    print(ConfigurationReport.contents(of: configuration))
    for line in certificates.lines + (machine?.lines ?? []) { print(line) }
  }
}

struct Config: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the configuration in effect.",
    discussion: """
      Prints every section with every key, the value in effect and, after "#", where it comes from: a file and line, or \
      the built-in default. A route shows what it inherits from its site.
      """)

  @Option(name: [.short, .long], help: ArgumentHelp("The file to read.", valueName: "file"), completion: .file())
  var config: String

  @Flag(help: "As one JSON object: sections with their values, each with its origin.")
  var json = false

  func run() throws {
    let configuration = try ConfigurationSource.file(path: config).loadOrExit(json: json)
    if json { return print(ConfigurationReport.json(configuration)) }
    print(ConfigurationReport.effective(configuration), terminator: "")
  }
}
