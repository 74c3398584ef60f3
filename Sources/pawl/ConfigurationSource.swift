import ArgumentParser
import CLinux
import PawlConfig

/// The source of a configuration, from which it can be loaded again.
enum ConfigurationSource: Sendable {
  case file(path: String)
  case commandLine(url: String, listen: [String], stateDirectory: String?)

  func load() throws(InvalidConfiguration) -> Configuration {
    switch self {
    case .file(let path):
      var configuration = try ConfigurationLoader.load(path: path, surroundings: .system)
      configuration.file = absolutePath(of: path)
      return configuration
    case .commandLine(let url, let listen, let stateDirectory):
      return try ConfigurationLoader.forwarding(
        to: url, listen: listen, stateDirectory: stateDirectory, surroundings: .system)
    }
  }

  /// Loads the configuration, prints every issue to standard error, and ends the program if one of them is an error.
  ///
  /// The exit status is 78 for a mistake in a file, and 64 for one on the command line.
  /// - Parameter isJSON: whether the mistakes are printed as JSON to standard output. Warnings are then left out.
  func loadOrExit(json isJSON: Bool = false) throws(ExitCode) -> Configuration {
    var made: Configuration?
    try exiting(json: isJSON) { () throws(RunFailure) in made = try loadOrFail(quiet: isJSON) }
    guard let made else { throw .failure }
    return made
  }

  /// Loads the configuration, and prints its warnings to standard error.
  func loadOrFail(quiet: Bool = false) throws(RunFailure) -> Configuration {
    do throws(InvalidConfiguration) {
      let configuration = try load()
      if !configuration.warnings.isEmpty, !quiet { printError(ConfigurationReport.issues(configuration.warnings)) }
      return configuration
    } catch {
      switch self {
      case .file: throw RunFailure(.configuration, error)
      case .commandLine: throw RunFailure(.usage, error)
      }
    }
  }
}

/// Returns the path of a file without links; the path as it is if there is no such file.
func absolutePath(of path: String) -> String {
  guard let found = realpath(path, nil) else { return path }
  defer { free(found) }
  return String(cString: found)
}

extension Surroundings {
  /// The process's environment, and the machine's files.
  static var system: Surroundings {
    Surroundings(
      environment: { name in getenv(name).map { String(cString: $0) } }, readFile: readWholeFile,
      listFiles: filesMatching, isRoot: geteuid() == 0)
  }

  /// The largest configuration file, in bytes: far larger than any real one. The limit exists so that a wrong path cannot fill
  /// the memory.
  private static let largestFile = 4 << 20

  private static func readWholeFile(_ path: String) -> Result<[UInt8], FileProblem> {
    let descriptor = pawl_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { return .failure(lastProblem()) }
    defer { close(descriptor) }
    var bytes = [UInt8]()
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, pawl_errno() == EINTR { continue }
      guard count >= 0 else { return .failure(lastProblem()) }
      if count == 0 { return .success(bytes) }
      bytes += buffer[..<count]
      if bytes.count > largestFile { return .failure(FileProblem(reason: "larger than \(largestFile >> 20) MiB")) }
    }
  }

  private static func lastProblem() -> FileProblem { FileProblem(reason: String(cString: strerror(pawl_errno()))) }

  private static func filesMatching(_ pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }
  }
}
