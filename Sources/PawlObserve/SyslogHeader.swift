import CLinux
import PawlBase

/// What stands before the text of a message to syslog: priority, time, the name of the program.
package struct SyslogHeader: Hashable, Sendable {
  /// The header's format: `syslog-format` in the configuration.
  package enum Format: String, CaseIterable, Hashable, Sendable {
    /// RFC 5424, with milliseconds, the host and the name of the event.
    case rfc5424
    /// The older one, as the C library's `syslog(3)` writes it on the local socket (RFC 3164 §5.4, without the host).
    case rfc3164
  }

  /// The facility (RFC 5424 §6.2.1): `syslog-facility` in the configuration.
  package enum Facility: String, CaseIterable, Hashable, Sendable {
    case kern, user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp
    case local0, local1, local2, local3, local4, local5, local6, local7

    var number: UInt64 {
      let position = UInt64(Self.allCases.firstIndex(of: self) ?? 0)
      // The numbers 12 to 15 are for uses that no program of an operator has.
      return position < 12 ? position : position + 4
    }
  }

  package var format: Format
  package var facility: Facility
  /// Read once, when the destination is made.
  private let host: [UInt8]
  private let process: CInt

  /// The most characters of the name of a message in RFC 5424.
  private static let mostOfName = 32

  package init(_ format: Format = .rfc5424, _ facility: Facility = .daemon) {
    (self.format, self.facility) = (format, facility)
    (host, process) = (Self.hostName(), getpid())
  }

  /// For tests.
  init(_ format: Format, _ facility: Facility, host: String, process: CInt) {
    (self.format, self.facility) = (format, facility)
    (self.host, self.process) = (Array(host.utf8), process)
  }

  private static func hostName() -> [UInt8] {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return [0x2d] }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return bytes.isEmpty || bytes.contains { $0 <= 0x20 || $0 >= 0x7f } ? [0x2d] : bytes
  }

  /// Appends the header of one message.
  /// - Parameters:
  ///   - local: the local time, as `Nov 21 10:00:00`; used by RFC 3164 only.
  ///   - name: the name of the event.
  func append(
    to message: inout [UInt8], at milliseconds: Int64, local: () -> [UInt8], _ level: LogLevel, _ name: StaticString
  ) {
    message.append(0x3c)
    message.append(decimal: facility.number * 8 + level.severity)
    message.append(0x3e)
    switch format {
    case .rfc5424:
      message.append(text: "1 ")
      message.append(timestamp: milliseconds)
      message.append(0x20)
      message.append(contentsOf: host)
      message.append(text: " pawl ")
      message.append(decimal: UInt64(max(process, 0)))
      message.append(0x20)
      name.withUTF8Buffer { message.append(contentsOf: $0.prefix(Self.mostOfName)) }
      message.append(text: " - ")
    case .rfc3164:
      message.append(contentsOf: local())
      message.append(text: " pawl[")
      message.append(decimal: UInt64(max(process, 0)))
      message.append(text: "]: ")
    }
  }
}

extension LogLevel {
  /// The severity of syslog and of the journal (RFC 5424 §6.2.1).
  var severity: UInt64 {
    switch self {
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug: 7
    }
  }
}
