import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("PEM files") struct PEMFileTests {
  @Test("hold certificates in their order, whatever stands between them")
  func order() throws {
    let text = "a comment\n\(Made.b.certificatePEM)\nbetween\n\(Made.b.keyPEM)\(Made.root.certificatePEM)"
    let file = try PEMFile(Made.certificates.write(text, "mixed.pem"))
    let found = try file.certificates()
    #expect(found.map(\.subject) == ["CN=b.example", "CN=Test Middle", "CN=Test Root"])
    #expect(try found.first?.keyType == file.privateKey().type)
  }

  @Test("a damaged certificate behind good ones is a problem, not an end")
  func damaged() throws {
    var text = Made.b.certificatePEM
    text += Made.root.certificatePEM.split(separator: "\n").prefix(3).joined(separator: "\n")
    text += "\n!!!\n-----END CERTIFICATE-----\n"
    let path = Made.certificates.write(text, "damaged.pem")
    let found = problem { try PEMFile(path).certificates() }
    #expect(found?.description.hasPrefix("\(path): certificate 3 is damaged: ") == true)
    let key = Made.certificates.write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "damaged.key")
    #expect(problem { try PEMFile(key).privateKey() }?.reason.hasPrefix("the private key is damaged: ") == true)
  }

  @Test("what is too large to be one is not read to its end", arguments: [0, 1])
  func large(_ over: Int) throws {
    let path = Made.certificates.write([UInt8](repeating: 0x0a, count: PEMFile.limit + over), "large\(over).pem")
    let found = problem { try PEMFile(path).certificates() }
    #expect(found?.reason == (over == 0 ? "holds no certificate" : "is too large for what it should hold"))
  }
}

extension PrivateKey {
  var type: Int32 { EVP_PKEY_get_base_id(raw) }
}
