import CLinux
import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Stapled OCSP responses") struct OCSPStapleTests {
  /// What the client got with the certificate, over each version.
  private func stapled(_ context: TLSServerContext, _ name: String, _ version: CInt = CInt(TLS1_3_VERSION)) throws
    -> [UInt8]?
  {
    let client = try Made.client(verifies: false).makeEngine(serverName: name, place: "x")
    pawl_ssl_ask_status(client.ssl)
    pawl_ssl_set_versions(client.ssl, version)
    let pair = try EnginePair(context.makeEngine(), client).shake()
    #expect(pair.isDone)
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = pawl_ssl_get_status(client.ssl, &bytes)
    return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: Int(count))) : nil
  }

  @Test("go with the certificate that they are about, whatever the order of the files", arguments: [0x303, 0x304])
  func staples(_ version: CInt) throws {
    let made = Made.certificates
    let forB = made.ocsp(for: Made.b, issuer: Made.middle)
    // The issuer of this one is not in its chain: name and serial number have to do.
    let forA = made.ocsp(for: Made.ecdsa, issuer: Made.root)
    let files = [made.write(forB, "b\(version).ocsp"), made.write(forA, "a\(version).ocsp")]
    let context = try Made.server([Made.section("all", [Made.ecdsa, Made.b, Made.rsa], ocsp: files)])
    #expect(context.certificates.map(\.isStapled) == [true, true, false])
    #expect(try stapled(context, "a.example", version) == forA)
    #expect(try stapled(context, "b.example", version) == forB)
    #expect(!context.warnings.contains { $0.file?.hasSuffix(".ocsp") == true })
  }

  @Test("that have expired, say nothing good or are about another certificate are not sent, but warned of")
  func unfit() throws {
    let made = Made.certificates
    let rows: [([UInt8], String)] = [
      (made.ocsp(for: Made.ecdsa, issuer: Made.root, thisUpdate: -7200, nextUpdate: -3600), "has expired ("),
      (made.ocsp(for: Made.ecdsa, issuer: Made.root, status: 1), "says revoked about its certificate"),
      (made.ocsp(for: Made.ecdsa, issuer: Made.root, status: 2), "says unknown about its certificate"),
      (made.ocsp(for: Made.ecdsa, issuer: Made.root, thisUpdate: 7200), "holds only from "),
      (made.ocsp(for: Made.b, issuer: Made.middle), "belongs to none of the certificates of [tls:a]"),
    ]
    for (bytes, words) in rows {
      let file = made.write(bytes, "unfit.ocsp")
      let context = try Made.server([Made.section("a", [Made.ecdsa], ocsp: [file])])
      #expect(context.certificates.map(\.isStapled) == [false])
      let warning = context.warnings.first { $0.file == file }
      #expect(warning?.reason.hasPrefix(words) == true, "\(words): \(String(describing: warning))")
      #expect(try stapled(context, "a.example") == nil)
    }
  }

  @Test("a file that is no response is a problem")
  func broken() throws {
    let file = Made.certificates.write("nothing", "broken.ocsp")
    let found = problem { try Made.server([Made.section("a", [Made.ecdsa], ocsp: [file])]) }
    #expect(found?.description.hasPrefix("\(file): is no OCSP response in DER") == true)
    let missing = problem { try Made.server([Made.section("a", [Made.ecdsa], ocsp: ["/nowhere.ocsp"])]) }
    #expect(missing?.description == "/nowhere.ocsp: cannot be read: No such file or directory")
  }
}
