import PawlHTTP
import PawlTLS
import Testing

@testable import PawlServer

@Suite("Client-Cert (RFC 9440)") struct ClientCertificateFieldTests {
  private func facts(_ der: [UInt8]?, isTrusted: Bool = false) -> ClientFacts {
    let certificate = der.map { PeerCertificate(der: $0, identity: [1], subject: "CN=a") }
    return ClientFacts(
      client: nil, isTrusted: isTrusted, port: 443,
      tls: TLSFacts(version: .v13, cipher: "TLS_AES_128_GCM_SHA256", peerCertificate: certificate))
  }

  private func settled(_ lines: [String], _ facts: ClientFacts, isWanted: Bool) -> [String] {
    var fields = Fields()
    for line in lines { fields.append(named: line.utf8, "theirs".utf8) }
    ClientCertificateField.set(&fields, facts, isWanted: isWanted)
    return fields.lines.map { "\(fields.name($0).text)=\(fields.value($0).text)" }
  }

  @Test("is a byte sequence in Base64")
  func value() {
    let rows: [([UInt8], String)] = [([0x66], ":Zg==:"), ([0x66, 0x6f], ":Zm8=:"), ([0x66, 0x6f, 0x6f], ":Zm9v:")]
    for (der, text) in rows {
      #expect(facts(der).clientCertificate.map { String(decoding: $0, as: UTF8.self) } == text)
    }
    #expect(facts(nil).clientCertificate == nil)
    #expect(facts([]).clientCertificate == nil)
  }

  @Test("is not made of a certificate that no head would hold")
  func limit() {
    let limit = ClientCertificateField.maxCertificate
    #expect(facts([UInt8](repeating: 0, count: limit)).clientCertificate?.count == (limit + 2) / 3 * 4 + 2)
    #expect(facts([UInt8](repeating: 0, count: limit + 1)).clientCertificate == nil)
  }

  @Test("is pawl's word alone: a stranger's goes, whoever is trusted keeps it")
  func settle() {
    let (shown, none) = (facts([0x66]), facts(nil))
    let trusted = facts([0x66], isTrusted: true)
    let claims = ["X", "client-cert", "CLIENT-CERT-CHAIN", "Client_Cert", "client.cert", "Client-Certificate"]
    let innocent = ["X=theirs", "Client-Certificate=theirs"]
    #expect(settled(claims, none, isWanted: false) == innocent)
    #expect(settled(claims, shown, isWanted: false) == innocent)
    #expect(settled(claims, none, isWanted: true) == innocent)
    #expect(settled(claims, shown, isWanted: true) == innocent + ["Client-Cert=:Zg==:"])
    #expect(settled(claims, trusted, isWanted: true) == claims.map { "\($0)=theirs" })
    #expect(settled(["X"], trusted, isWanted: true) == ["X=theirs", "Client-Cert=:Zg==:"])
    #expect(settled(["X"], trusted, isWanted: false) == ["X=theirs"])
  }
}
