import Testing

@testable import PawlConfig

@Suite("Labels of sections") struct SectionLabelTests {
  @Test(
    "are a kind, or a kind and a name",
    arguments: [
      ("pawl", SectionLabel(.pawl)), ("site:a.b-c_D1", SectionLabel(.site, "a.b-c_D1")),
      ("route:a/b", SectionLabel(.route, "a/b")), ("cache : x", SectionLabel(.cache, "x")),
    ])
  func reads(_ text: String, _ expected: SectionLabel) throws { #expect(try SectionLabel(text) == expected) }

  @Test(
    "are refused with how such a section is written",
    arguments: [
      ("sites:a", "unknown section", "site:a"), ("sevrer", "unknown section", nil), ("", "unknown section", nil),
      ("pawl:a", "expected [pawl]: there is only one", "pawl"),
      ("site", "expected [site:NAME]; letters, digits, \".\", \"_\" and \"-\" make a name", "site:default"),
      ("site:", "expected [site:NAME]; letters, digits, \".\", \"_\" and \"-\" make a name", nil),
      ("site:a b", "expected [site:NAME]; letters, digits, \".\", \"_\" and \"-\" make a name", nil),
      ("route:a", "expected [route:SITE/NAME]; letters, digits, \".\", \"_\" and \"-\" make a name", nil),
      ("route:a/b/c", "expected [route:SITE/NAME]; letters, digits, \".\", \"_\" and \"-\" make a name", nil),
    ] as [(String, String, String?)])
  func refuses(_ text: String, _ message: String, _ suggestion: String?) {
    #expect(throws: BadValue(message, suggestion: suggestion)) { try SectionLabel(text) }
  }
}
