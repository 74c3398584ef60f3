import Testing

@testable import PawlConfig

@Suite("Entries of a section") struct SectionReaderTests {
  private let file = "/etc/pawl/pawl.ini"

  @Test(
    "are read once each; what is wrong with one is told at its line",
    arguments: [
      (
        "workers = 1\nworkers = 2",
        ["7: [pawl] workers: this key is already set at /etc/pawl/pawl.ini:6"]
      ),
      ("trusted-proxies = 10.0.0.1\ntrusted-proxies = 10.0.0.2", []),
      ("access-log-format = \"$request_method\" \"$status\"", []),
      (
        "access-log = \"/var/log/a\"",
        ["6: [pawl] access-log: the quotes are a part of the value: values stand without quotes (warning)"]
      ),
    ])
  func entries(_ lines: String, _ expected: [String]) {
    #expect(mistakes(in: smallest + "[pawl]\n" + lines) == expected.map { "\(file):\($0)" })
  }
}
