import Testing

@testable import PawlConfig

@Suite("Substitution in values") struct SubstitutionTests {
  let substitution = Substitution(
    environment: { ["HOME": "/root", "EMPTY": "", "TRICK": "${HOME}\n[pawl]"][$0] },
    readFile: { path in
      switch path {
      case "/etc/pawl/secret": .success(Array("s3cret\r\n\n".utf8))
      case "/two": .success(Array("a\nb".utf8))
      default: .failure(FileProblem(reason: "Permission denied"))
      }
    })

  @Test(
    "replaces names, defaults and files once",
    arguments: [
      ("plain $5", "plain $5"), ("${HOME}/x", "/root/x"), ("a${EMPTY}b", "ab"), ("${EMPTY:-x}", "x"),
      ("${NONE:-a:-b}", "a:-b"), ("${NONE:-}", ""), ("${HOME:-x}${HOME}", "/root/root"), ("${file:secret}", "s3cret"),
      ("${TRICK}", "${HOME}\n[pawl]"), ("$${HOME}", "$/root"), ("}${HOME}{", "}/root{"),
    ])
  func replaces(_ value: String, _ expected: String) throws {
    #expect(try substitution.apply(to: value, directory: "/etc/pawl").text == expected)
  }

  @Test(
    "says what is wrong",
    arguments: [
      ("${HOME", BadValue("expected } after ${")),
      ("${NONE}", BadValue("the environment has no variable NONE", suggestion: "${NONE:-default}")),
      ("${file:/none}", BadValue("cannot read /none: Permission denied")),
      ("${file:/two}", BadValue("/two holds more than one line of text")),
      ("${}", BadValue("expected ${NAME}, ${NAME:-default} or ${file:PATH}, found \"${}\"")),
      ("${A:?x}", BadValue("expected ${NAME}, ${NAME:-default} or ${file:PATH}, found \"${A:?x}\"")),
      ("${1A}", BadValue("expected ${NAME}, ${NAME:-default} or ${file:PATH}, found \"${1A}\"")),
    ])
  func refuses(_ value: String, _ expected: BadValue) {
    #expect(throws: expected) { try substitution.apply(to: value, directory: "") }
  }
}
