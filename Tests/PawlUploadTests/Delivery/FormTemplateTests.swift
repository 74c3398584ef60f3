import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Form templates") struct FormTemplateTests {
  private func value(_ text: String, _ metadata: String? = "name YWJj,empty,b YQ==") throws -> String? {
    let metadata = try metadata.map { try TusMetadata(Bytes($0)) }
    return FormTemplate(text).map { $0.value(metadata)[...].text }
  }

  @Test(
    "keys stand for values",
    arguments: [
      ("f={name}", "abc"), ("f=x{b}y{b}", "xaya"), ("f={nothing}", ""), ("f={empty}", ""), ("f=", ""), ("f=a=b", "a=b"),
      ("f={{name}", "{name}"), ("f={{{name}}", "{abc}"), ("f=}", "}"), ("f={{", "{"),
    ])
  func values(_ text: String, _ expected: String) throws { #expect(try value(text) == expected) }

  @Test("what is no template is refused", arguments: ["", "f", "=x", "f={", "f={}", "f={name", "f={{{"])
  func refused(_ text: String) { #expect(FormTemplate(text) == nil) }

  @Test("without metadata keys are empty; the name stays")
  func none() throws {
    #expect(try value("f=<{name}>", nil) == "<>")
    #expect(FormTemplate("title=x")?.name == Array("title".utf8))
  }
}
