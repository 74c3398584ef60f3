import PawlBase

/// How an event is written: as a line, as a message to syslog, or as fields of the journal.
enum EventStyle {
  case line
  case syslog(SyslogHeader)
  case journal

  init(_ destination: LogDestination) {
    switch destination {
    case .syslog(_, let header): self = .syslog(header)
    case .journal: self = .journal
    case .off, .standardError, .standardOutput, .file, .closure: self = .line
    }
  }

  /// Appends one event.
  func append(
    to output: inout [UInt8], at milliseconds: Int64, _ level: LogLevel, _ event: StaticString,
    _ pairs: some Collection<(key: StaticString, value: String)>
  ) {
    switch self {
    case .line:
      output.append(timestamp: milliseconds)
      output.append(0x20)
      output.append(text: level.word)
      output.append(0x20)
      output.append(event: event, pairs)
      output.append(0x0a)
    case .syslog(let header):
      header.append(
        to: &output, at: milliseconds,
        local: { LocalTimeText.syslog(milliseconds.dividedDown(by: 1000)) }, level, event)
      output.append(event: event, pairs)
    case .journal:
      var text: [UInt8] = []
      text.append(event: event, pairs)
      output.append(journalText: text, level, event: event)
      for (key, value) in pairs { output.append(journalKey: key, value.utf8) }
    }
  }
}

extension [UInt8] {
  /// Appends `event key=value …`.
  fileprivate mutating func append(event: StaticString, _ pairs: some Collection<(key: StaticString, value: String)>) {
    append(text: event)
    for (key, value) in pairs { append(pair: key, value) }
  }

  private mutating func append(pair key: StaticString, _ value: String) {
    append(0x20)
    append(text: key)
    append(0x3d)
    if !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c && $0 != 0x3d }) {
      append(contentsOf: value.utf8)
    } else {
      append(0x22)
      for byte in value.utf8 { append(quoted: byte) }
      append(0x22)
    }
  }

  private mutating func append(quoted byte: UInt8) {
    switch byte {
    case 0x22, 0x5c: append(contentsOf: [0x5c, byte])
    case 0x0a: append(contentsOf: [0x5c, 0x6e])
    case 0x0d: append(contentsOf: [0x5c, 0x72])
    case 0x09: append(contentsOf: [0x5c, 0x74])
    case 0..<0x20, 0x7f:
      append(contentsOf: [0x5c, 0x78])
      append(hexadecimal: byte, uppercase: false)
    default: append(byte)
    }
  }
}
