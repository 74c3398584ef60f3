import Testing

@testable import PawlConfig

@Suite("Form fields of a line") struct UploadSettingsTests {
  @Test(
    "several fields of a form on one line, and what is printed reads back as the same",
    arguments: [
      ("title={title}, kind=video", ["title={title}", "kind=video"]),
      ("a=1,b=2 ,\tc={x}", ["a=1", "b=2 ", "c={x}"]),
      ("a=x, by {author}, or nobody", ["a=x, by {author}, or nobody"]),
      ("a=x,, b=y", ["a=x, b=y"]), ("a=x,,,b=y", ["a=x,", "b=y"]), ("a=,", ["a=,"]), ("a=, =b", ["a=, =b"]),
      ("a={x, y=z}", ["a={x", "y=z}"]),
    ])
  func formLine(_ line: String, _ fields: [String]) {
    #expect(FormEntry.split(line) == fields)
    guard fields.allSatisfy({ $0.contains("=") }) else { return }
    for field in fields {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      #expect(FormEntry.split(FormEntry(name: parts[0], template: parts[1]).written) == [field])
    }
  }
}
