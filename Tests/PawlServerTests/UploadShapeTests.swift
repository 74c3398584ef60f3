import PawlHTTP
import Testing

@testable import PawlServer

@Suite("How an upload is described to its origin") struct UploadShapeTests {
  @Test(
    "a file name is the last component, without controls",
    arguments: [
      ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\x\\y.doc", "y.doc"), ("a\r\nX: y", "aX: y"),
      ("ä\"b.png", "ä\"b.png"), ("..", nil), ("/", nil), ("", nil), ("a/", "a"),
    ] as [(String, String?)])
  func names(_ given: String, _ expected: String?) {
    #expect(UploadShape.safeName(Array(given.utf8)) == expected)
  }

  @Test(
    "a media type is one, or is not passed on",
    arguments: [
      ("image/png", true), ("text/plain; charset=utf-8", true), ("image", false), ("a/b/c", false), ("a/b\r\nX: y", false),
      ("/b", false), ("", false), ("a b/c", false), ("a/ü", false),
    ])
  func types(_ given: String, _ isTaken: Bool) {
    #expect(UploadShape.safeType(Array(given.utf8)) == (isTaken ? Array(given.utf8) : nil))
  }

  @Test(
    "a name goes in ASCII, and whole where it is more (RFC 6266)",
    arguments: [
      ("a b.txt", "inline; filename=\"a b.txt\""), ("a\"\\", "inline; filename=\"a\\\"\\\\\""),
      ("ä 1.txt", "inline; filename=\"_ 1.txt\"; filename*=UTF-8''%C3%A4%201.txt"),
    ])
  func dispositions(_ name: String, _ expected: String) {
    #expect(String(decoding: UploadShape.disposition(name), as: UTF8.self) == expected)
  }
}
