import ArgumentParser
import PawlServer

/// The exit statuses of all commands: the one table (`sysexits.h`). `Config/README.md` has the same rows. What `serve` ends with for a
/// mistake, `check` ends with for the same mistake.
enum ExitStatus: Int32, Sendable {
  /// Anything that goes wrong while running.
  case failure = 1
  /// Wrong use of the command line (`EX_USAGE`).
  case usage = 64
  /// The machine stands in the way: an address, a directory, a log, a user; or no server runs (`EX_UNAVAILABLE`).
  case unavailable = 69
  /// The configuration, or a certificate or key that it names, is not valid (`EX_CONFIG`).
  case configuration = 78

  var code: ExitCode { ExitCode(rawValue) }

  init(_ error: ServerError) {
    self =
      switch error {
      case .address, .storage, .log, .account: .unavailable
      case .certificates: .configuration
      case .system: .failure
      }
  }
}
