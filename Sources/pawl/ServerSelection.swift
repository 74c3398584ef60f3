import ArgumentParser
import CLinux
import PawlConfig
import PawlLoop

/// The running server that a command is for.
struct ServerSelection: ParsableArguments {
  /// The file that is used where the command line names none.
  static let usualFile = "/etc/pawl/pawl.ini"

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The server of this configuration (default \(usualFile), if it is there).", valueName: "file"),
    completion: .file())
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The server of this state directory (default /var/lib/pawl as root, else ./pawl-state).", valueName: "dir"),
    completion: .directory)
  var state: String?

  func validate() throws {
    if config != nil, state != nil { throw ValidationError("--config and --state exclude each other.") }
  }

  /// The configuration file; `nil`: the server runs without one, or its file is unknown.
  var file: String? { config ?? (state == nil && access(Self.usualFile, R_OK) == 0 ? Self.usualFile : nil) }

  /// What the server is named in messages.
  var name: String { file ?? directory }
  private var directory: String { state ?? Surroundings.system.defaultStateDirectory }

  /// Returns the ways to the server, the likeliest first. The file may have mistakes elsewhere: a server that runs with its former
  /// content is found. If the file has another `listen` now than the server was started with, the default socket may lead to it.
  func clients() throws(RunFailure) -> [AdminClient] {
    let settings = try settings()
    let reachable = settings.listen.filter { $0.isUnix || settings.tls == nil }
    guard let chosen = reachable.first(where: \.isUnix) ?? reachable.first ?? existing(settings.usual) else {
      let why = settings.listen.isEmpty ? "[admin] listen is off" : "[admin] has TLS addresses only, which curl can ask"
      throw RunFailure(.unavailable, "\(name): \(why)")
    }
    guard let address = SocketAddress.parse(chosen.description) else {
      throw RunFailure(
        .unavailable, "\(chosen) is not an address, or its path is longer than \(SocketAddress.maxUnixPath) bytes")
    }
    let usual =
      chosen == settings.usual ? nil : existing(settings.usual).flatMap { SocketAddress.parse($0.description) }
    return [AdminClient(address: address, token: settings.token?.text)]
      + (usual.map { [AdminClient(address: $0, token: nil)] } ?? [])
  }

  private func settings() throws(RunFailure) -> AdminSettings {
    guard let file else { return AdminSettings(stateDirectory: directory) }
    do throws(InvalidConfiguration) {
      return try ConfigurationLoader.admin(path: file, surroundings: .system)
    } catch { throw RunFailure(.configuration, "\(error.issues.first?.description ?? file)") }
  }

  /// Whether the admin interface cannot be asked from here: it is off, or has TLS addresses only.
  func isOutOfReach() throws(RunFailure) -> Bool {
    let settings = try settings()
    return !settings.listen.contains { $0.isUnix || settings.tls == nil } && existing(settings.usual) == nil
  }

  /// Asks the server; `nil`: no answer.
  func askIfRunning(_ method: String, _ target: String) -> AdminAnswer? {
    do throws(RunFailure) { return try ask(method, target) } catch { return nil }
  }

  /// Returns the address if its socket is there.
  private func existing(_ address: ListenAddress) -> ListenAddress? {
    guard case .unix(let path) = address, access(path, F_OK) == 0 else { return nil }
    return address
  }

  /// Asks the server, or does `otherwise` when none runs.
  func ask(
    _ method: String, _ target: String, _ content: String? = nil, seconds: Int = AdminClient.usualSeconds,
    otherwise: () throws(RunFailure) -> Void = {}
  ) throws(RunFailure) -> AdminAnswer {
    var missing: [String] = []
    for client in try clients() {
      do throws(AdminFailure) {
        return try client.ask(method, target, content, seconds: seconds)
      } catch {
        switch error {
        case .notRunning(let why): missing.append(why)
        case .failed(let why): throw RunFailure(.unavailable, why)
        }
      }
    }
    try otherwise()
    throw RunFailure(
      .unavailable,
      "no server is running for \(name) (\(missing.first ?? "")). If [admin] listen or state-dir was changed in the file, a server "
        + "that runs has its former address: send it SIGHUP")
  }

  /// Asks, and ends the program when the answer is an error.
  func need(
    _ method: String, _ target: String, _ content: String? = nil, seconds: Int = AdminClient.usualSeconds,
    otherwise: () throws(RunFailure) -> Void = {}
  ) throws(RunFailure) -> AdminAnswer {
    let answer = try ask(method, target, content, seconds: seconds, otherwise: otherwise)
    guard (200..<300).contains(answer.status) else { throw RunFailure(.failure, answer.problem) }
    return answer
  }
}
