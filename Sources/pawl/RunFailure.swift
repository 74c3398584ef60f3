import ArgumentParser
import CLinux

/// Why the program ends other than well.
struct RunFailure: Error {
  enum Kind {
    /// Anything that goes wrong while running.
    case failure
    /// An address or a disk that can not be used.
    case unavailable
    /// A file that the configuration names is not what it has to be.
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

/// Runs `work`; a failure is told on standard error and becomes the exit status that stands for it.
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
    guard count > 0 else { return }  // Nobody reads: there is nowhere left to say so.
    rest = rest.dropFirst(count)
  }
}
