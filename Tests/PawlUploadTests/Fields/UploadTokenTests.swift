import PawlHTTP
import Testing

@testable import PawlUpload

@Suite("Upload token") struct UploadTokenTests {
  @Test("is 32 characters that no URL has to escape")
  func text() {
    #expect(UploadToken(random: [UInt8](repeating: 0, count: 24)).text == String(repeating: "A", count: 32))
    #expect(UploadToken(random: [UInt8](repeating: 255, count: 24)).text == String(repeating: "_", count: 32))
  }

  @Test("is read back, and nothing else is")
  func reading() {
    let token = UploadToken(random: (0..<24).map { UInt8($0 * 10) })
    #expect(UploadToken(Bytes(token.text)) == token)
    #expect(UploadToken(Bytes(String(token.text.dropLast()))) == nil)
    #expect(UploadToken(Bytes(token.text + "A")) == nil)
    #expect(UploadToken(Bytes(String(token.text.dropLast()) + "=")) == nil)
  }
}
