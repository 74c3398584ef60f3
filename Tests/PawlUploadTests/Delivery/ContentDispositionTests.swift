import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Content-Disposition (RFC 6266, RFC 8187)") struct ContentDispositionTests {
  @Test(
    "a name for everybody and the whole one",
    arguments: [
      ("a.txt", "inline; filename=\"a.txt\"; filename*=UTF-8''a.txt"),
      ("a b.txt", "inline; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
      ("naïve €.txt", "inline; filename=\"na_ve _.txt\"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt"),
      ("50%\"'*.txt", "inline; filename=\"50__'*.txt\"; filename*=UTF-8''50%25%22%27%2A.txt"),
      ("x/y;z=1", "inline; filename=\"y;z=1\"; filename*=UTF-8''y%3Bz%3D1"),
    ])
  func inline(_ name: String, _ expected: String) {
    #expect(ContentDisposition.inline(fileName: Array(name.utf8)).map { $0[...].text } == expected)
  }

  @Test("no name, no field")
  func nothing() { #expect(ContentDisposition.inline(fileName: Array("..".utf8)) == nil) }
}
