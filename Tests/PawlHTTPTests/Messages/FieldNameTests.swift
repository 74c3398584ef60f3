import PawlHTTP
import Testing

@Suite("Field names") struct FieldNameTests {
  @Test("every known name is found in any case", arguments: FieldName.allCases.filter { $0 != .other })
  func found(_ name: FieldName) {
    let spelling = name.spelling.withUTF8Buffer { Array($0) }
    #expect(FieldName(spelling) == name)
    #expect(FieldName(spelling.text.lowercased().utf8) == name)
    #expect(FieldName(spelling.text.uppercased().utf8) == name)
    #expect(FieldName(spelling + [0x78]) == .other)
    #expect(FieldName(spelling.dropLast()) != name)
  }

  @Test(
    "other names are other",
    arguments: ["", "X-Foo", "Content_Length", "Hos\u{74}\u{308}", String(repeating: "a", count: 100)])
  func other(_ name: String) { #expect(FieldName(name.utf8) == .other) }
}
