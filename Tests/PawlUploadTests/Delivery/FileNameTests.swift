import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("File names that clients give") struct FileNameTests {
  @Test(
    "the last component, without controls",
    arguments: [
      ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\dir\\a b.txt", "a b.txt"), ("a\r\nX: y\u{0}", "aX: y"),
      ("Grüße.pdf", "Grüße.pdf"), ("a/", "a"), ("\u{202e}gpj.exe", "gpj.exe"), ("\u{85}x\u{7f}", "x"), ("🦀", "🦀"),
      (".profile", ".profile"), ("...", "..."),
    ])
  func safe(_ name: String, _ expected: String) { #expect(FileName.safe(Array(name.utf8)) == Array(expected.utf8)) }

  @Test("nothing is left of what names no file", arguments: ["", "/", ".", "..", "a/..", "\\", "\r\n", "  ", "//"])
  func nothing(_ name: String) { #expect(FileName.safe(Array(name.utf8)) == nil) }

  @Test("bytes that are no UTF-8 are shown as such")
  func repaired() { #expect(FileName.safe([0x61, 0xff, 0xe2, 0x82]) == Array("a\u{fffd}\u{fffd}".utf8)) }

  @Test("long names end at a character, and keep their ending")
  func long() {
    #expect(FileName.safe([UInt8](repeating: 0x61, count: 255))?.count == 255)
    let name = String(repeating: "é", count: 200) + ".jpeg"
    let expected = String(repeating: "é", count: 125) + ".jpeg"
    #expect(FileName.safe(Array(name.utf8)).map { $0[...].text } == expected)
    #expect(
      FileName.safe([UInt8](repeating: 0x61, count: 300) + [0x2e] + [UInt8](repeating: 0x62, count: 300))?.count == 255)
    #expect(FileName.safe([0x61] + Array(String(repeating: "🦀", count: 100).utf8))?.count == 253)
  }

  @Test("random bytes never trap, and never leave a separator or a control")
  func hostile() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let name = (0..<Int.random(in: 0...400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      guard let safe = FileName.safe(name) else { continue }
      #expect(safe.count <= FileName.longest && !safe.isEmpty)
      #expect(safe.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != 0x2f && $0 != 0x5c })
      #expect(Array(String(decoding: safe, as: UTF8.self).utf8) == safe)
    }
  }
}
