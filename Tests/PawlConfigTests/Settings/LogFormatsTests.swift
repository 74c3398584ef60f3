import PawlBase
import Testing

@testable import PawlConfig

@Suite("Keys of logs") struct LogFormatsTests {
  @Test(
    "say where a log goes",
    arguments: [
      ("stdout", .standardOutput), ("STDERR", .standardError), ("off", .off), ("syslog", .syslog(path: nil)),
      ("syslog:/run/log", .syslog(path: "/run/log")), ("journald", .journal(path: nil)),
      ("journald:socket", .journal(path: "/etc/pawl/socket")),
      ("log/access.log", .file(path: "/etc/pawl/log/access.log")),
      ("/dev/stdout", .file(path: "/dev/stdout")), ("/my logs/a.log", .file(path: "/my logs/a.log")),
    ] as [(String, ProcessSettings.LogTarget)])
  func targets(_ text: String, _ expected: ProcessSettings.LogTarget) throws {
    let format = ValueFormat<ProcessSettings.LogTarget>.logTarget(canBeOff: true)
    let read = try format.read(text, "/etc/pawl")
    #expect(read == expected)
    #expect(try format.read(format.show(read), "/") == expected)
  }

  @Test(
    "are refused with what was expected",
    arguments: [
      (
        "log = off",
        "log: expected stderr, stdout, syslog, journald or a path, found \"off\" - did you mean \"log-level = error\"?"
      ),
      (
        "log = journal",
        "log: expected stderr, stdout, syslog, journald or a path, found \"journal\" - did you mean \"journald\"?"
      ),
      (
        "access-log = /x/y.log combined",
        "access-log: expected a path without blanks in the file name, found \"/x/y.log combined\"; the format has a key of its own - did you mean \"access-log-format = combined\"?"
      ),
      (
        "access-log = /x/y.log $uri/$status",
        "access-log: expected a path without blanks in the file name, found \"/x/y.log $uri/$status\"; the format has a key of its own - did you mean \"access-log-format = $uri/$status\"?"
      ),
      (
        "log = y.log warn",
        "log: expected a path without blanks in the file name, found \"y.log warn\"; the level has a key of its own - did you mean \"log-level = warning\"?"
      ),
      (
        "log-level = warn",
        "log-level: expected debug, info, notice, warning or error, found \"warn\" - did you mean \"warning\"?"
      ),
      ("access-log = syslog:", "access-log: expected syslog:PATH, found \"syslog:\""),
      (
        "access-log-sample = 100",
        "access-log-sample: expected a share such as 1/100, or 1 for all, found \"100\" - did you mean \"1/100\"?"
      ),
      ("access-log-sample = 1/0", "access-log-sample: expected a share such as 1/100, or 1 for all, found \"1/0\""),
      (
        "access-log-sample = 1/1000001",
        "access-log-sample: expected a share such as 1/100, or 1 for all, found \"1/1000001\""
      ),
      (
        "access-log-format = $remote_adr $status",
        "access-log-format: pawl has no variable $remote_adr - did you mean \"$remote_addr\"?"
      ),
      ("access-log-format = $gzip_ratio", "access-log-format: pawl has no variable $gzip_ratio"),
      (
        "access-log-format = $http_authorization",
        "access-log-format: $http_authorization holds a secret, which pawl writes to no log"
      ),
      (
        "access-log-format = combine",
        "access-log-format: expected combined, json or a format with variables such as $remote_addr, found \"combine\" - did you mean \"combined\"?"
      ),
      (
        "access-log-format = 100$",
        "access-log-format: expected combined, json or a format with variables such as $remote_addr, found \"$\""
      ),
      (
        "access-log-format = escape=xml $status",
        "access-log-format: expected combined, json or a format with variables such as $remote_addr, found \"escape=xml\""
      ),
      (
        "syslog-facility = local8",
        "syslog-facility: expected kern, user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp, local0, local1, local2, local3, local4, local5, local6 or local7, found \"local8\" - did you mean \"local0\"?"
      ),
    ])
  func refused(_ line: String, _ message: String) {
    #expect(mistakes(in: smallest + "[pawl]\n" + line) == ["/etc/pawl/pawl.ini:6: [pawl] \(message)"])
  }

  @Test("the largest sample is accepted")
  func largestSample() throws {
    let format = ValueFormat<Int>.sample
    #expect(try format.read("1/1000000", "/") == 1_000_000)
    #expect(try format.read("1", "/") == 1)
    #expect(format.show(20) == "1/20" && format.show(1) == "1")
  }

  @Test("a format of nginx passes without the environment's substitution, and is shown as it was written")
  func nginxFormat() throws {
    let text =
      "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_x_forwarded_for\""
    let substituted = try Substitution(environment: { _ in nil }, readFile: { _ in .success([]) }).apply(
      to: text, directory: "/"
    ).text
    #expect(substituted == text)
    let format = ValueFormat<ProcessSettings.AccessLogFormat>.accessLogFormat
    let read = try format.read(substituted, "/")
    #expect(read == .custom(try AccessFormat(text)))
    #expect(format.show(read) == text)
  }
}
