import CLinux

/// The destination of log lines.
package enum LogDestination: Sendable {
  case off
  case standardError
  case standardOutput
  /// A file. Lines are appended; a missing file is made with mode 0640.
  case file(path: String)
  /// A syslog daemon on this machine, behind the local socket at `path`.
  case syslog(path: String, SyslogHeader)
  /// The journal of systemd, with a field for each value of an event, through the socket at `path`.
  case journal(path: String)
  /// A function that gets complete lines, several at a time, on the log's own thread; for tests and for embedding.
  case closure(@Sendable ([UInt8]) -> Void)

  /// The usual sockets.
  package static let syslogPath = "/dev/log"
  package static let journalPath = "/run/systemd/journal/socket"

  /// Returns why messages could not be sent to the socket of a log; `nil`: they can. Connects, and sends nothing. Blocking.
  package static func problem(ofSocket path: String, isJournal: Bool) -> String? {
    do throws(LogError) {
      _ = try LogSocket(path, sendsLargeAsFile: isJournal)
      return nil
    } catch { return String(cString: strerror(error.code)) }
  }

  /// Whether the destination takes messages instead of a stream of lines.
  var takesMessages: Bool {
    switch self {
    case .syslog, .journal: true
    case .off, .standardError, .standardOutput, .file, .closure: false
    }
  }
}

/// The error that a log could not be opened.
package struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
  package let path: String
  /// The `errno` of the failed call.
  package let code: CInt

  package var description: String { "cannot open the log \(path): \(String(cString: strerror(code)))" }
}
