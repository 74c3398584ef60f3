import Testing

@Suite("Reading source files") struct BareCodeTests {
  @Test("strings and comments are taken out")
  func bare() {
    let source = [
      "let a = \"{ \\\" { \\(b(\"{\")) {\" // {", "/* { /* { */ { */ let c = #\"{\"{\"#", "let d = \"\"\"", "  { \"x\"",
      "  \"\"\" + e",
    ]
    #expect(BareCode(source).lines == ["let a = \"\" ", " let c = \"\"", "let d = \"\"", "", " + e"])
  }

  @Test("functions are measured from their first line to their closing brace")
  func functions() {
    let source = """
      protocol P {
        func a()
        func b(
          _ c: Int
        ) throws(E)
          -> Int
      }
      struct S {
        init() { x = 1 }
        package static func d(
          _ f: () -> Void = { }
        )
        where T: U
        {
          func inner() {
          }
        }
        deinit {
        }
      }
      """.split(separator: "\n").map(String.init)
    #expect(
      BareCode(source).functions == [
        FunctionExtent(firstLine: 9, lineCount: 1), FunctionExtent(firstLine: 10, lineCount: 8),
        FunctionExtent(firstLine: 15, lineCount: 2), FunctionExtent(firstLine: 18, lineCount: 2),
      ])
  }
}
