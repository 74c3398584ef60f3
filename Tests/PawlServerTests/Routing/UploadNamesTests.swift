import PawlHTTP
import PawlTestKit
import PawlUpload
import Testing

@testable import PawlServer

@Suite("What an upload is called") struct UploadNamesTests {
  private let prefix = Array("/.pawl/uploads/".utf8)
  private let text = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
  private var token: UploadToken { get throws { try #require(UploadToken(Bytes(text))) } }

  @Test("tokens are never made twice, unless from the same secret")
  func tokens() {
    #expect(UploadNames.makeToken() != UploadNames.makeToken())
    #expect(UploadNames.token(from: [1]) == UploadNames.token(from: [1]))
    #expect(UploadNames.token(from: [1]) != UploadNames.token(from: [2]))
  }

  @Test("the ID is the first half of the token's SHA-256")
  func id() throws {
    // printf A…A | sha256sum
    #expect(UploadNames.id(try token).hex == "22a48051594c1949deed7040850c1f0f")
  }
}
