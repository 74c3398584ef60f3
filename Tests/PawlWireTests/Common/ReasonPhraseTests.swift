import PawlWire
import Testing

@Suite("Reason phrases") struct ReasonPhraseTests {
  @Test(
    "are those of the registry",
    arguments: [
      (100, "Continue"), (104, "Upload Resumption Supported"), (206, "Partial Content"), (308, "Permanent Redirect"),
      (416, "Range Not Satisfiable"), (431, "Request Header Fields Too Large"), (504, "Gateway Timeout"), (299, ""),
      (418, ""), (999, ""), (-1, ""),
    ])
  func phrases(_ status: Int, _ phrase: String) {
    #expect(reasonPhrase(status).description == phrase)
  }
}
