import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Upload-Concat (tus 1.0.0, concatenation)") struct TusConcatTests {
  private let prefix = Array("/.pawl/uploads/".utf8)
  private let a = String(repeating: "a", count: 32)
  private let b = String(repeating: "b", count: 32)

  private func read(_ value: String) -> TusConcat? {
    do throws(UploadRefusal) { return try TusConcat(Bytes(value)) } catch { return nil }
  }

  @Test("partial, or final with the parts in their order")
  func reading() {
    #expect(read("partial") == .partial)
    #expect(read("final;/a /b /a") == .final(["/a", "/b", "/a"].map { Array($0.utf8) }))
    #expect(read("final; /a  /b ") == .final(["/a", "/b"].map { Array($0.utf8) }))
    for value in ["", "Partial", "partial;", "final", "final;", "final; ", "final /a", "finale;/a"] {
      #expect(read(value) == nil, "\(value)")
    }
  }

  @Test("parts are found by absolute URLs and absolute paths, whatever their host")
  func tokens() {
    let urls = ["/.pawl/uploads/\(a)", "https://h:8443/.pawl/uploads/\(b)", "HTTP://[::1]/.pawl/uploads/\(a)"]
    #expect(
      read("final;\(urls.joined(separator: " "))")?.tokens(prefix: prefix)?.map(\.text) == [a, b, a])
    #expect(TusConcat.partial.tokens(prefix: prefix) == nil)
    #expect(TusConcat.token(Array("//h/.pawl/uploads/\(a)".utf8), prefix: prefix)?.text == a)
  }

  @Test("one URL that is no upload's, and there are no parts")
  func strangers() {
    let urls = [
      "/files/\(a)", a, "/.pawl/uploads/\(a)/", "/.pawl/uploads/\(a)?x", "/.pawl/uploads/",
      "ftp://h/.pawl/uploads/\(a)",
      "https://h", "https:/.pawl/uploads/\(a)", "/.pawl/uploads/../uploads/\(a)", "://", "//", "x/.pawl/uploads/\(a)",
      "/.pawl/uploads/\(a.dropLast())=",
    ]
    for url in urls {
      #expect(TusConcat.token(Array(url.utf8), prefix: prefix) == nil, "\(url)")
      #expect(read("final;/.pawl/uploads/\(b) \(url)")?.tokens(prefix: prefix) == nil, "\(url)")
    }
  }
}
