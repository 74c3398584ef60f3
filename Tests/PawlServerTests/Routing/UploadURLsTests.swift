import PawlHTTP
import PawlUpload
import Testing

@testable import PawlServer

@Suite("Below which paths uploads have their URLs") struct UploadURLsTests {
  private static let token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
  // printf A…A | sha256sum
  private static let id = "22a48051594c1949deed7040850c1f0f"

  private func paths(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  private func urls(_ current: [String], former: [String] = [], remembered: [String] = []) -> UploadURLs {
    UploadURLs(current: paths(current), former: paths(former), remembered: paths(remembered))
  }

  private func shown(_ text: String, _ urls: UploadURLs) -> String? {
    urls.redacted(Bytes(text)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("no log shows a token, nor anything below the paths of now")
  func redaction() {
    let shown = "/.pawl/uploads/~\(Self.id)"
    let token = Self.token
    let rows: [(String, String?)] = [
      ("/.pawl/uploads/\(token)", shown), ("/.pawl/uploads/\(token)?x=\(token)", shown), ("/f", nil), ("", nil),
      ("/", nil),
      ("http://site/.pawl/uploads/\(token)", "http://site\(shown)"), ("/.pawl/uploads", nil),
      ("/.pawl/uploads/", "/.pawl/uploads/~"), ("/.pawl/uploads/\(token.dropLast())", "/.pawl/uploads/~"),
      ("/f?at=/.pawl/uploads/\(token)", "/f?at=\(shown)"), ("//.pawl/uploads/\(token)", "/\(shown)"),
    ]
    for (given, expected) in rows {
      #expect(self.shown(given, urls(["/other/", "/.pawl/uploads/"])) == expected, "\(given)")
    }
  }

  @Test("of the paths of before, what is no token is shown as it is; the usual path is always one of them")
  func formerRedaction() {
    let token = Self.token
    let urls = urls(["/new/"], former: ["/files/"], remembered: ["/older/"])
    let rows: [(String, String?)] = [
      ("/files/\(token)", "/files/~\(Self.id)"), ("/files/\(token)?x", "/files/~\(Self.id)"),
      ("/files/\(token)/x", "/files/~\(Self.id)"), ("/files/report.pdf", nil), ("/files/", nil),
      ("/files/\(token)0", "/files/~\(Self.id)"),
      ("/files/\(token.dropLast())", nil), ("/older/\(token)", "/older/~\(Self.id)"),
      ("/.pawl/uploads/\(token)", "/.pawl/uploads/~\(Self.id)"), ("/.pawl/uploads/x", nil), ("/new/x", "/new/~"),
      ("/files/x?from=/files/\(token)", "/files/x?from=/files/~\(Self.id)"),
    ]
    for (given, expected) in rows { #expect(shown(given, urls) == expected, "\(given)") }
    // Of two that begin alike the one of the token counts.
    #expect(shown("/files/up/\(token)", self.urls(["/files/"], former: ["/files/up/"])) == "/files/up/~\(Self.id)")
    #expect(shown("/files/\(token)", self.urls(["/files/up/"], former: ["/files/"])) == "/files/~\(Self.id)")
  }

  @Test("what may be an upload's URL is below a path of now, or of before as long as there are uploads")
  func mayHold() {
    let urls = urls(["/new/", "/n/"], former: ["/files/", "/new/"], remembered: ["/older/"])
    #expect(urls.current.map { Bytes($0[...]).text } == ["/new/", "/n/"])
    #expect(urls.former.map { Bytes($0[...]).text } == ["/files/"])
    for (target, expected) in [
      ("/new/x", true), ("/n/", true), ("/files/x", true), ("/older/x", false), ("/.pawl/uploads/x", false),
      ("/nn", false),
      ("/", false), ("", false), ("*", false), ("/f", false),
    ] {
      #expect(urls.mayHold(Bytes(target)) == expected, "\(target)")
    }
    #expect(!self.urls([]).mayHold(Bytes("/x")) && self.urls([]).isEmpty && !urls.isEmpty)
  }

  @Test("what is no such path is left out, whoever recorded it", arguments: ["", "/", "//", "x", "/x", "x/"])
  func malformed(_ path: String) {
    let urls = urls(["/new/"], former: [path], remembered: [path])
    #expect(urls.former.isEmpty && urls.remembered == [UploadURLs.usual])
  }

  @Test("candidates are whole tokens, whatever is behind them; those of the longest path first")
  func candidates() {
    let urls = urls(["/files/"], former: ["/files/up/"])
    func found(_ target: String) -> [String] { urls.candidates(Bytes(target)).map { Bytes($0.prefix[...]).text } }
    #expect(found("/files/\(Self.token)") == ["/files/"])
    #expect(found("/files/up/\(Self.token)?q") == ["/files/up/"])
    #expect(found("/files/\(Self.token)/x") == ["/files/"] && found("/files/\(Self.token)x") == ["/files/"])
    #expect(found("/files/\(Self.token.dropLast())").isEmpty)
    #expect(found("/files/x").isEmpty && found("/files/").isEmpty && found("/g/\(Self.token)").isEmpty)
    #expect(urls.tokens(ofPart: Array("https://a.example/files/up/\(Self.token)".utf8)).map(\.text) == [Self.token])
  }

  @Test("so many former paths are remembered, the latest; those that uploads need always", arguments: [0, 1])
  func limit(_ more: Int) {
    let limit = UploadURLs.rememberedLimit
    let old = (0..<(limit - 2 + more)).map { "/r\($0)/" }
    let urls = urls([], former: ["/live/"], remembered: old)
    #expect(urls.remembered.count == limit)
    #expect(urls.remembered.first == Array("/live/".utf8))
    #expect((urls.remembered.last == Array(old[old.count - 1].utf8)) == (more == 0))
    let many = self.urls([], former: (0..<(limit + more)).map { "/l\($0)/" })
    #expect(many.former.count == limit + more && many.remembered.count == limit + more + 1)
  }
}
