import ArgumentParser
import CLinux

/// The reason for which the program ends with an error.
struct RunFailure: Error {
  enum Kind {
    /// Anything that goes wrong while running.
    case failure
    /// An address or a disk cannot be used.
    case unavailable
    /// A file that the configuration names is not valid.
    case configuration
  }

  var kind: Kind
  var message: String

  init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }
}

extension ExitCode {
  /// `EX_UNAVAILABLE`.
  static let unavailable = ExitCode(69)
  /// `EX_CONFIG`.
  static let invalidConfiguration = ExitCode(78)
}

/// Runs `work`. A failure is printed to standard error and becomes an exit status.
func exiting(_ work: () throws(RunFailure) -> Void) throws(ExitCode) {
  do throws(RunFailure) { try work() } catch {
    printError("pawl: \(error.message)\n")
    switch error.kind {
    case .failure: throw .failure
    case .unavailable: throw .unavailable
    case .configuration: throw .invalidConfiguration
    }
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
