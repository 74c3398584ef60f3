import ArgumentParser
import CLinux
import PawlBase
import PawlConfig

struct Reload: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Have the running server read its configuration again.",
    discussion: """
      Waits for the outcome. Exit status 0 when the new configuration is in force; changes that need a restart are listed. \
      78 when it has mistakes: they are listed, and nothing has changed. 64 when the server reads another file. 69 when no \
      server runs; then the file is checked.

      In ExecReload= of a systemd unit, a server whose admin interface cannot be asked by this command, because it is off or \
      behind TLS, gets SIGHUP, once the file has no mistakes.
      """)
  @OptionGroup var server: ServerSelection
  @Flag(help: "As one JSON object: applied, mistakes, needs_restart, file.")
  var json = false

  /// A reload opens caches and resolves names.
  private static let seconds = 120

  func run() throws {
    var isInvalid = false
    try exiting(json: json) { () throws(RunFailure) in
      if let pid = try onlySignals() { return try signal(pid) }
      try refuseOtherFile()
      let answer = try server.ask("POST", "/v1/reload", "{}", seconds: Self.seconds) { () throws(RunFailure) in
        try check()
      }
      guard answer.status == 200 || answer.status == 422 else { throw RunFailure(.failure, answer.problem) }
      isInvalid = answer.status == 422
      if json { return print(answer.text, terminator: "") }
      for line in answer.json["mistakes"].elements { printError("\(line.text ?? "")\n") }
      for line in answer.json["needs_restart"].elements { print("\(line.text ?? "")") }
      if isInvalid { return printError("pawl: the configuration was NOT reloaded; the old one stays in force\n") }
      let open = answer.json["needs_restart"].elements.count
      let what = answer.json["file"].text.map { "reloaded \(TextTable.safe($0))" } ?? "reloaded"
      print(
        open == 0 ? what : "\(what), but \(open) change\(open == 1 ? "" : "s") need\(open == 1 ? "s" : "") a restart")
    }
    if isInvalid { throw ExitStatus.configuration.code }
  }

  /// Checks the file, since no server does.
  private func check() throws(RunFailure) {
    guard let file = server.file else { return }
    do throws(RunFailure) { _ = try ConfigurationSource.file(path: file).loadOrFail(quiet: json) } catch {
      printError(json ? "" : error.text)
      throw RunFailure(.configuration, "no server is running for \(file)")
    }
    if !json { printError("\(file): valid\n") }
  }

  /// Ends the command if the server reads another file than the one that was named: the reload would not read this one.
  private func refuseOtherFile() throws(RunFailure) {
    guard let file = server.file, let answer = server.askIfRunning("GET", "/v1/status"), answer.status == 200 else {
      return
    }
    let configuration = answer.json["configuration"]
    guard let member = configuration.members.first(where: { $0.name == "file" }) else { return }
    guard let own = member.value.text else {
      throw RunFailure(
        .usage, "the server at \(file)'s address was started without a file (serve --to): nothing was reloaded")
    }
    guard absolutePath(of: own) != absolutePath(of: file) else { return }
    throw RunFailure(
      .usage,
      "the server reads \(TextTable.safe(own)), not \(file): nothing was reloaded. "
        + "pawl reload --config \(TextTable.safe(own)) has it read its own file")
  }

  // MARK: A server that only signals reach

  /// Returns the process of the service for which systemd runs this command, if that is a pawl whose admin interface this command
  /// cannot ask; `nil`: it is asked.
  private func onlySignals() throws(RunFailure) -> pid_t? {
    guard try server.isOutOfReach(), let value = getenv("MAINPID"), let pid = pid_t(String(cString: value)), pid > 1,
      case .success(let name) = Surroundings.system.readFile("/proc/\(pid)/comm"), name.starts(with: "pawl".utf8)
    else { return nil }
    return pid
  }

  private func signal(_ pid: pid_t) throws(RunFailure) {
    if let file = server.file { _ = try ConfigurationSource.file(path: file).loadOrFail(quiet: json) }
    guard kill(pid, SIGHUP) == 0 else {
      throw RunFailure(.failure, "cannot signal process \(pid): \(String(cString: strerror(pawl_errno())))")
    }
    if json { return print("{\"signalled\":\(pid)}") }
    print("\(server.name) is valid; process \(pid) reads it again (SIGHUP), and logs what comes of it")
  }
}

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stop the running server.",
    discussion: """
      Running transfers may end, for up to drain-timeout. Waits until the process has gone; exit status 0 then, 69 when no \
      server runs.
      """)
  @OptionGroup var server: ServerSelection
  @Flag(help: "Cut running transfers at once.")
  var now = false
  @Flag(help: "As one JSON object.")
  var json = false

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let status = try server.need("GET", "/v1/status").json
      let pid = pid_t(clamping: status["pid"].count)
      let older = status["still_draining"].elements.map { "\($0.count)" }
      let process = ProcessEnd(pid)
      let answer = try server.need("POST", "/v1/stop", now ? "{\"now\":true}" : "{}")
      // What is left after the drain is written to disk; a service manager would wait that long, too.
      let limit = answer.json["drain_timeout"].seconds + 60
      guard process.wait(seconds: limit) else {
        throw RunFailure(.failure, "process \(pid) still runs after \(limit) s")
      }
      if json { return print("{\"stopped\":true,\"pid\":\(pid),\"still_draining\":[\(older.joined(separator: ","))]}") }
      print("stopped process \(pid)")
      for each in older {
        print("process \(each), which ran before an upgrade, still finishes its transfers; kill \(each) cuts them")
      }
    }
  }
}

/// Waits for the end of a process that is not a child.
struct ProcessEnd {
  private let pid: pid_t
  private let descriptor: CInt

  /// Opened before the process is told to end, so that no other process with its number is waited for.
  init(_ pid: pid_t) { (self.pid, descriptor) = (pid, pawl_pidfd_open(pid)) }

  /// - Returns: `false` if the process still runs after that time.
  func wait(seconds: Int64) -> Bool {
    guard descriptor >= 0 else { return kill(pid, 0) != 0 && pawl_errno() == ESRCH }
    defer { close(descriptor) }
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, CInt(clamping: seconds * 1000)) > 0
  }
}

struct Upgrade: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Have a new binary take over from the running server.",
    discussion: """
      The running server starts the binary at its own path, which may be a newer version, and hands over. Waits for the \
      outcome; exit status 1 when the old one goes on, 69 when no server runs.
      """)
  @OptionGroup var server: ServerSelection
  @Flag(help: "As one JSON object.")
  var json = false

  private static let seconds = 120
  /// How long, in milliseconds, the new server may take until it has the address of the admin interface.
  private static let adminLimit = 5000
  private static let adminPause = 20

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let answer = try server.need("POST", "/v1/upgrade", "{}", seconds: Self.seconds)
      try awaitSuccessor()
      print(json ? answer.text : "upgraded\n", terminator: "")
    }
  }
}

extension Upgrade {
  /// Waits until the new server can be asked, so that the next command finds it.
  private func awaitSuccessor() throws(RunFailure) {
    guard let client = try server.clients().first else { return }
    for _ in 0..<Self.adminLimit / Self.adminPause {
      do throws(AdminFailure) {
        _ = try client.ask("GET", "/healthz")
        return
      } catch { usleep(UInt32(Self.adminPause) * 1000) }
    }
  }
}

struct ReopenLogs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reopen-logs", abstract: "Have the running server open its log files again, after they were moved.",
    discussion:
      "Exit status 1, with the reason, when one cannot be opened: its lines go on to the file that was open before.")
  @OptionGroup var server: ServerSelection
  @Flag(help: "As one JSON object.")
  var json = false

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let answer = try server.need("POST", "/v1/reopen-logs", "{}")
      print(json ? answer.text : "reopened\n", terminator: "")
    }
  }
}

struct LogLevelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log-level", abstract: "Show or change the log level of the running server.",
    discussion: "A change lasts until the next reload or restart, or for the time of --for.")
  @OptionGroup var server: ServerSelection
  @Argument(
    help: "debug, info, notice, warning or error; without it, the level is shown.",
    completion: .list(ProcessSettings.LogLevel.allCases.map(\.rawValue)))
  var level: String?
  @Option(name: .customLong("for"), help: ArgumentHelp("Go back after this time: 30s, 10m, 2h.", valueName: "time"))
  var time: String?
  @Flag(help: "As one JSON object.")
  var json = false

  private static func seconds(_ text: String) -> Int64? {
    Quantity.time(text).flatMap { $0 > .zero ? max(1, $0.components.seconds) : nil }
  }

  func validate() throws {
    if let level, ProcessSettings.LogLevel(rawValue: level) == nil {
      throw ValidationError("\"\(level)\" is not one of debug, info, notice, warning, error.")
    }
    guard let time else { return }
    if level == nil { throw ValidationError("--for goes with a level.") }
    if LogLevelCommand.seconds(time) == nil {
      throw ValidationError("\"\(time)\" is not a time such as 30s, 10m or 2h.")
    }
  }

  func run() throws {
    try exiting(json: json) { () throws(RunFailure) in
      let seconds = time.flatMap(Self.seconds).map { ",\"seconds\":\($0)" } ?? ""
      let answer: AdminAnswer
      if let level {
        answer = try server.need("POST", "/v1/log-level", "{\"level\":\"\(level)\"\(seconds)}")
      } else {
        answer = try server.need("GET", "/v1/log-level")
      }
      print(json ? answer.text : "\(answer.json["level"].text ?? "?")\n", terminator: "")
    }
  }
}
