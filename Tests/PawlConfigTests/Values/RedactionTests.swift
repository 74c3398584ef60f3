import Testing

@testable import PawlConfig

@Suite("Secrets in messages") struct RedactionTests {
  @Test(
    "passwords of URLs are left out",
    arguments: [
      ("found \"http://user:pass@host:80/a\"", "found \"http://(secret)@host:80/a\""),
      ("found \"http://user:p@ss/w@host\"; more", "found \"http://(secret)@host\"; more"),
      ("found \"user:pass@host\"", "found \"(secret)@host\""), ("write to a@example.com", "write to a@example.com"),
      ("http://a/x and b@c", "http://a/x and b@c"), ("two\thttps://u@h\nlines", "two\thttps://(secret)@h\nlines"),
      ("nothing", "nothing"),
    ])
  func passwords(_ text: String, _ expected: String) {
    #expect(Redaction.withoutPasswords(text) == expected)
  }

  @Test("secrets of four characters and more are left out, whole and by the word, in lower case, too")
  func secrets() {
    #expect(Redaction.without(["Ab cDef"], in: "Ab cDef, cDef, cdef, Ab") == "(secret), (secret), (secret), Ab")
    #expect(Redaction.without(["abc"], in: "abc") == "abc")
    #expect(Redaction.without(["abcd"], in: "abcd") == "(secret)")
  }

  @Test(
    "a wrong value that came from a file or the environment is not shown; its key and line are",
    arguments: [
      (
        "[pawl]\nworkers = ${file:secret}",
        "6: [pawl] workers: expected auto or a whole number from 1 to 1024, found a value from a file or the environment, which is not shown"
      ),
      (
        "[pawl]\nlog-level = ${LEVEL}",
        "6: [pawl] log-level: expected debug, info, notice, warning or error, found a value from a file or the environment, which is not shown"
      ),
      (
        "[pawl]\nworkers = ${NONE:-x}", "6: [pawl] workers: expected auto or a whole number from 1 to 1024, found \"x\""
      ),
      (
        "[admin]\ntoken = ${file:short}",
        "6: [admin] token: expected none or at least 16 letters, digits or any of -._~+/=, found 5 characters"
      ),
      (
        "[admin]\ntls = ${file:secret}\nlisten = 127.0.0.1:1\ntoken = 0123456789abcdef",
        "6: [admin] tls: there is no [tls:(secret)]"
      ),
      (
        "[admin]\ntoken s3cret-of-all",
        "6: [admin] expected key = value, found \"token\" without =; what follows is not shown"
      ),
    ])
  func inserted(_ lines: String, _ expected: String) {
    let files = ["/etc/pawl/secret": "s3cret-of-all", "/etc/pawl/short": "short"]
    let found = mistakes(in: smallest + lines, files: files, environment: ["LEVEL": "s3cret-of-all"])
    #expect(found == ["/etc/pawl/pawl.ini:\(expected)"])
  }

  @Test("the configuration in effect does not show what came from files")
  func effective() throws {
    let text = smallest + "[pawl]\nstate-dir = ${file:secret}\nworkers = ${WORKERS}\n"
    let made = try load(text, files: ["/etc/pawl/secret": "s3cret"], environment: ["WORKERS": "3"])
    let shown = ConfigurationReport.effective(made)
    #expect(shown.contains("state-dir = (secret) ") && shown.contains("workers = 3 "))
    #expect(made.hidingSecrets("/etc/pawl/s3cret/x is full") == "(secret)/x is full")
  }
}
