import PawlHTTP
import Testing

@testable import PawlWire

@Suite("Field names in the read buffer") struct KnownFieldNamesTests {
  @Test("knows every name in any case", arguments: FieldName.allCases)
  func finds(_ name: FieldName) {
    let spelling = name.spelling.description
    for text in [spelling, spelling.lowercased(), spelling.uppercased()] {
      let bytes = latin("\(text): x")
      #expect(KnownFieldNames.shared.find(bytes.span, 0..<text.utf8.count) == name)
    }
  }

  @Test(
    "takes no other token for one", arguments: ["", "x", "hos", "hostt", "c^nnection", "-----", "Ran^e", "X-Real-IQ"])
  func unknown(_ text: String) {
    let bytes = latin(text)
    #expect(KnownFieldNames.shared.find(bytes.span, 0..<bytes.count) == .other)
  }

  @Test("fits the parser's set of names that are present")
  func fits() {
    #expect(FieldName.allCases.allSatisfy { $0.rawValue < 128 && $0.spelling.utf8CodeUnitCount <= 32 })
  }
}
