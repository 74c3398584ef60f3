import Testing

@testable import PawlConfig

@Suite("The nearest match") struct NearestMatchTests {
  @Test(
    "is found for a typing mistake only",
    arguments: [
      ("max-uplaod", "max-upload"), ("MAX-SIZE", "max-size"), ("ofr", "off"), ("of", "off"), ("maxsize", "max-size"),
      ("keepalive", nil), ("x", nil), ("", nil),
    ])
  func finds(_ word: String, _ expected: String?) {
    #expect(nearestMatch(word, among: ["max-size", "max-upload", "off", "keepalive-timeout"]) == expected)
  }

  @Test(
    "counts a swap of neighbours as one edit",
    arguments: [("abcd", "abdc", 1), ("abc", "", 3), ("kitten", "sitting", 3)])
  func distance(_ a: String, _ b: String, _ expected: Int) {
    #expect(editDistance(Array(a.unicodeScalars), Array(b.unicodeScalars)) == expected)
  }
}
