import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Relative references (RFC 3986 §5.2)") struct RelativeReferencesTests {
  @Test(
    "mean on an upload's URL what they mean on the target",
    arguments: [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("?y", "/b/c/d?y"), ("g?y/./x", "/b/c/g?y/./x"),
      ("#s", "/b/c/d?q#s"), ("g#s/../x", "/b/c/g#s/../x"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"),
      ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("", "/b/c/d?q"),
      ("g/../h", "/b/c/h"), ("..g", "/b/c/..g"), ("a//b", "/b/c/a//b"),
      ("/g", "/g"), ("//host/g", "//host/g"), ("https://a/g", "https://a/g"), ("mailto:a", "mailto:a"),
    ])
  func resolves(_ reference: String, _ expected: String) {
    var fields = Draft.fields("X: y\nLocation: \(reference)\nContent-Location: \(reference)")
    RelativeReferences.anchor(&fields, at: Bytes("/b/c/d?q"))
    #expect(fields.all(.location).map(\.text) == [expected])
    #expect(fields.all(.contentLocation).map(\.text) == [expected])
    #expect(fields.count == 3)
  }

  @Test("are left alone on the target itself, and anchored below the prefix")
  func answers() {
    let head = ResponseHead(status: 201, fields: Draft.fields("Location: 5"))
    for (location, expected) in [(Draft.location, "5"), (nil, "/files/5")] {
      let answer = UploadReplies.answer(
        head, .ietf(Draft.version(9)), total: 1, location: location, consumed: true, target: Bytes("/files/"))
      #expect(answer.head.fields.first(.location)?.text == expected)
    }
  }

  @Test("on odd targets are no trap", arguments: ["", "*", "?", "/", "x"])
  func odd(_ target: String) {
    for reference in ["", ".", "..", "g", "?", "#", "../../.."] {
      var fields = Draft.fields("Location: \(reference)")
      RelativeReferences.anchor(&fields, at: Bytes(target))
      #expect(fields.count(of: .location) == 1)
    }
  }
}
