import Testing

@testable import PawlObserve

@Suite("Header of syslog") struct SyslogHeaderTests {
  private func text(
    _ format: SyslogHeader.Format, _ facility: SyslogHeader.Facility, _ level: LogLevel, _ name: StaticString
  ) -> String {
    var message: [UInt8] = []
    SyslogHeader(format, facility, host: "web1", process: 42).append(
      to: &message, at: 1_795_255_200_123, local: { Array("Nov 21 11:00:00".utf8) }, level, name)
    return String(decoding: message, as: UTF8.self)
  }

  @Test("is that of RFC 5424, or the older one of the local socket")
  func formats() {
    #expect(
      text(.rfc5424, .daemon, .notice, "node-up") == "<29>1 2026-11-21T10:00:00.123Z web1 pawl 42 node-up - ")
    #expect(text(.rfc3164, .local0, .error, "x") == "<131>Nov 21 11:00:00 pawl[42]: ")
  }

  @Test("has at most 32 characters of the name")
  func longName() {
    #expect(
      text(.rfc5424, .user, .info, "abcdefghijklmnopqrstuvwxyz123456").hasSuffix(" abcdefghijklmnopqrstuvwxyz123456 - ")
    )
    #expect(
      text(.rfc5424, .user, .info, "abcdefghijklmnopqrstuvwxyz1234567").hasSuffix(
        " abcdefghijklmnopqrstuvwxyz123456 - "))
  }

  @Test(
    "numbers facilities and severities as the RFC does",
    arguments: [
      (.kern, .debug, 7), (.user, .info, 14), (.ftp, .notice, 93), (.local0, .warning, 132), (.local7, .error, 187),
    ] as [(SyslogHeader.Facility, LogLevel, Int)])
  func priorities(_ facility: SyslogHeader.Facility, _ level: LogLevel, _ expected: Int) {
    #expect(text(.rfc3164, facility, level, "e").hasPrefix("<\(expected)>"))
  }
}
