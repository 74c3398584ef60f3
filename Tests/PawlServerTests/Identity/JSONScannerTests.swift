import Testing

@testable import PawlServer

@Suite("Reading one member of a JSON object") struct JSONScannerTests {
  @Test(
    "gives the string of a top-level member, once",
    arguments: [
      (#"{"sub":"s"}"#, "s"), (#"{"a":"sub","sub":"s"}"#, "s"), (#"{"sub":""}"#, ""), (#"{}"#, nil), ("", nil),
      (#"{"sub":"s""#, nil), (#"{"sub":"s"} x"#, "s"), (#"{"sub":null}"#, nil), (#"{"sub":"\u0041"}"#, #"\u0041"#),
      (#"{"sub":"s","sub":1}"#, nil), (#"{"x":[1,"]",{}],"sub":"s"}"#, "s"), (#"{"\"#, nil), (#"{"a":{"\"#, nil),
    ] as [(String, String?)])
  func members(_ text: String, _ expected: String?) {
    var scanner = JSONScanner(Array(text.utf8))
    #expect(scanner.topLevelString(Array("sub".utf8)) == expected.map { Array($0.utf8) })
  }
}
