import ArgumentParser
import CLinux
import PawlBase
import PawlConfig

/// The reason for which the program ends with an error.
struct RunFailure: Error {
  var status: ExitStatus
  var message: String
  /// The mistakes in the configuration, if it is not valid.
  var issues: [Issue] = []

  init(_ status: ExitStatus, _ message: String) { (self.status, self.message) = (status, message) }

  init(_ status: ExitStatus, _ invalid: InvalidConfiguration) {
    self.init(status, "the configuration is not valid")
    issues = invalid.issues
  }

  /// What standard error gets.
  var text: String { issues.isEmpty ? "pawl: \(message)\n" : ConfigurationReport.issues(issues) }

  /// The reason in one line: the first mistakes, or the message.
  var summary: String {
    let mistakes = issues.filter { $0.severity == .error }.map(\.description)
    guard !mistakes.isEmpty else { return message }
    let more = mistakes.count > Self.mostInSummary ? "; and \(mistakes.count - Self.mostInSummary) more" : ""
    return mistakes.prefix(Self.mostInSummary).joined(separator: "; ") + more
  }

  /// The most mistakes in a ``summary``.
  private static let mostInSummary = 3

  /// The same as one JSON object, for commands with `--json`.
  var json: String {
    var json = JSONWriter()
    json.object {
      $0.member("error", message)
      $0.member("exit_status", Int(status.rawValue))
      if !issues.isEmpty { $0.member("mistakes", issues.filter { $0.severity == .error }.map(\.description)) }
    }
    return json.text
  }
}

/// Runs `work`. A failure is printed and becomes an exit status.
/// - Parameter isJSON: whether the failure is printed as JSON to standard output, instead of text to standard error.
func exiting(json isJSON: Bool = false, _ work: () throws(RunFailure) -> Void) throws(ExitCode) {
  do throws(RunFailure) { try work() } catch {
    if isJSON { print(error.json) } else { printError(error.text) }
    throw error.status.code
  }
}

/// Writes to standard error, unbuffered.
func printError(_ text: String) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    if count < 0, pawl_errno() == EINTR { continue }
    guard count > 0 else { return }  // Standard error is closed: the failure cannot be reported.
    rest = rest.dropFirst(count)
  }
}
