import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Upload-Metadata (tus 1.0.0, creation)") struct TusMetadataTests {
  private func pairs(_ value: String) -> [String]? {
    do throws(UploadRefusal) {
      return try TusMetadata(Bytes(value)).pairs.map { "\($0.key[...].text)=\($0.value[...].text)" }
    } catch {
      return nil
    }
  }

  @Test(
    "keys and values in their order",
    arguments: [
      ("filename d29ybGQ=,is_confidential", ["filename=world", "is_confidential="]),
      ("a", ["a="]), ("a ", ["a="]), ("a ,b YQ==", ["a=", "b=a"]), ("a YQ==, b YWI=", ["a=a", "b=ab"]),
      (" a YWJj ", ["a=abc"]), ("a YQ==,A YQ==", ["a=a", "A=a"]), ("a=b YQ==", ["a=b=a"]),
      ("\"k\" /+8=", ["\"k\"=\u{fffd}\u{fffd}"]),
      // Nothing is said.
      ("", []), (" ", []),
    ])
  func reads(_ value: String, _ expected: [String]) { #expect(pairs(value) == expected) }

  @Test(
    "anything else is malformed",
    arguments: [
      ",", "a,", ",a", "a,,b", "a YQ==,a", "a YQ==,a YQ==", "a YQ", "a YQ=", "a YQ===", "a YR==", "a =",
      "a ====", "a Y Q==", "a  YQ==", "a YQ== b", "a\tYQ==", "n\u{e9} YQ==", "a -_8=", "a \"\"", "a\u{7f}",
    ])
  func malformed(_ value: String) { #expect(pairs(value) == nil) }

  @Test("sizes and counts are bounded")
  func bounds() {
    let keys = (0..<TusMetadata.mostPairs).map { "k\($0)" }
    #expect(pairs(keys.joined(separator: ","))?.count == TusMetadata.mostPairs)
    #expect(pairs((keys + ["more"]).joined(separator: ",")) == nil)
    #expect(pairs(String(repeating: "k", count: TusMetadata.longest)) != nil)
    #expect(pairs(String(repeating: "k", count: TusMetadata.longest + 1)) == nil)
  }

  @Test("the field stays as it was given")
  func field() throws {
    #expect(try TusMetadata(Bytes("a , b YQ==")).field == Array("a , b YQ==".utf8))
    #expect(try TusMetadata(Bytes("a , b YQ==")).value("b") == [0x61])
    #expect(try TusMetadata(Bytes("a")).value("b") == nil)
  }

  @Test(
    "a file's name and type as clients send them",
    arguments: [
      ("filename YQ==,name Yg==", "a", nil), ("name Yg==,filename", "b", nil), ("title YQ==", nil, nil),
      ("filetype dGV4dC9wbGFpbg==", nil, "text/plain"), ("type dGV4dC9wbGFpbg==", nil, "text/plain"),
      ("contentType dGV4dC9odG1sOyBjaGFyc2V0PXV0Zi04", nil, "text/html; charset=utf-8"),
      ("filetype dGV4dA==", nil, nil), ("filetype dGV4dC9wbGFpbg0KWDogeQ==", nil, nil), ("filetype", nil, nil),
      ("filetype YSBiL2M=", nil, nil), ("filetype YS9iL2M=", nil, nil),
    ] as [(String, String?, String?)])
  func file(_ value: String, _ name: String?, _ type: String?) throws {
    let metadata = try TusMetadata(Bytes(value))
    #expect(metadata.fileName.map { $0[...].text } == name)
    #expect(metadata.mediaType.map { $0[...].text } == type)
  }

  @Test("random bytes are refused or read; nothing traps")
  func hostile() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      let alphabet = Array("aB9+/= ,\u{e9}".utf8) + [0, 0xff]
      let value = (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      guard let metadata = read(value) else { continue }
      #expect(metadata.field == value)
      _ = (metadata.fileName, metadata.mediaType)
    }
  }

  private func read(_ value: [UInt8]) -> TusMetadata? {
    do throws(UploadRefusal) { return try TusMetadata(value[...]) } catch { return nil }
  }
}
