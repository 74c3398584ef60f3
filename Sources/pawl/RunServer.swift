import CLinux
import PawlConfig
import PawlDemo
import PawlObserve
import PawlServer

/// Runs the server until a signal stops it.
///
/// - Parameters:
///   - configuration: a valid configuration.
///   - source: where the configuration is loaded from again on SIGHUP.
func runServer(configuration: Configuration, source: ConfigurationSource) throws(RunFailure) {
  // Before pawl becomes another user, which could not make them itself; they are opened as that user, as at each reopening.
  LogFiles.give(configuration.process)
  let events = try eventLog(configuration.process)
  do throws(ServerError) {
    try ServerSignals.serve(
      configuration, arguments: CommandLine.arguments, events: events, reload: { source.result() }, ready: printLine)
  } catch { throw RunFailure(error) }
}

/// Shows a download and an upload that are interrupted and resumed, then serves until Ctrl-C unless `options.once`.
func runDemo(options: DemoOptions) throws(RunFailure) {
  let events = try eventLog(.warning)
  let state = try temporaryDirectory()
  defer { removeTree(state) }
  do throws(ServerError) {
    let isRight = try Demonstration.run(
      once: options.once, events: events,
      configure: { origin in
        var configuration = ConfigurationSource.commandLine(
          url: origin, listen: [options.listen], stateDirectory: state
        )
        .loaded()
        configuration?.process.accessLog = .off
        return configuration
      }, print: { printLine($0) })
    if options.once, !isRight { throw ServerError.system("a transfer did not come out right") }
  } catch { throw RunFailure(error) }
}

private func eventLog(_ settings: ProcessSettings) throws(RunFailure) -> EventLog {
  do throws(LogError) {
    return try LogFiles.asUser(settings) { () throws(LogError) in try settings.openEventLog() }
  } catch { throw RunFailure(.unavailable, error.description) }
}

private func eventLog(_ level: LogLevel) throws(RunFailure) -> EventLog {
  do throws(LogError) { return try EventLog(level: level) } catch { throw RunFailure(.failure, error.description) }
}

extension ConfigurationSource {
  fileprivate func result() -> Result<Configuration, InvalidConfiguration> {
    Result { () throws(InvalidConfiguration) in try load() }
  }

  fileprivate func loaded() -> Configuration? {
    do throws(InvalidConfiguration) { return try load() } catch {
      printError(ConfigurationReport.issues(error.issues))
      return nil
    }
  }
}

extension RunFailure {
  fileprivate init(_ error: ServerError) {
    self.init(ExitStatus(error), error.description)
  }
}

/// Writes a line to standard output and flushes it, because programs wait for it.
private func printLine(_ line: String) {
  print(line)
  Output.flushIfPossible()
}

private func temporaryDirectory() throws(RunFailure) -> String {
  var template = Array("/tmp/pawl-demo-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw RunFailure(.unavailable, "cannot make a directory in /tmp") }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a directory and all below it.
private func removeTree(_ path: String) {
  guard let directory = opendir(path) else { return }
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name == "." || name == ".." { continue }
    let child = "\(path)/\(name)"
    if entry.pointee.d_type == UInt8(DT_DIR) { removeTree(child) } else { unlink(child) }
  }
  closedir(directory)
  rmdir(path)
}
