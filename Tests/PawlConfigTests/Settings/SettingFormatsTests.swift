import Testing

@testable import PawlConfig

@Suite("Values that belong to one key") struct SettingFormatsTests {
  @Test(
    "are refused with what was expected",
    arguments: [
      (
        "owner", "authorisation",
        "expected none, authorization, client-certificate, cookie:NAME or auth-request:FIELD, found \"authorisation\" - did you mean \"authorization\"?"
      ),
      (
        "owner", "none, authorization",
        "expected none by itself, or others without it, found \"none, authorization\""
      ),
      (
        "owner", "cookie:",
        "expected none, authorization, client-certificate, cookie:NAME or auth-request:FIELD, found \"cookie:\""
      ),
      ("tus-form", "title", "expected a form field such as title={title}, found \"title\""),
      ("tus-form", "a=}{", "expected a form field such as title={title}, found \"a=}{\""),
      ("tus-form", "a b=c", "expected a form field such as title={title}, found \"a b=c\""),
      ("spool", "a/b", "expected the name of a section, found \"a/b\""),
    ])
  func refused(_ key: String, _ value: String, _ message: String) { #expect(refusal(key, value) == message) }

  @Test(
    "of other sections are refused with what was expected",
    arguments: [
      (
        "[pawl]\naccess-log = stder",
        "[pawl] access-log: expected stderr, stdout, syslog, journald, off or a path, found \"stder\" - did you mean \"stderr\"?"
      )
    ])
  func refusedElsewhere(_ text: String, _ message: String) {
    #expect(mistakes(in: smallest + text) == ["/etc/pawl/pawl.ini:6: \(message)"])
  }
}
