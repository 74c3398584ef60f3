import CLinux
import PawlConfig
import PawlHTTP
import PawlTestKit
import Testing

@testable import PawlCertificates

@Suite("What check says of certificates") struct CertificateCheckTests {
  private let maker = TestCertificates()
  private let now = Int64(time(nil))

  private func check(_ text: String, now: Int64? = nil, site: String = "") throws -> CertificateCheck {
    CertificateCheck(try Configuration(site: site, text), now: now ?? self.now)
  }

  private func section(_ pairs: (String, String)..., more: String = "") -> String {
    "[listen:a]\ntls = web\n[tls:web]\n"
      + pairs.map { "certificate = \($0)\nkey = \($1)\n" }.joined() + more
  }

  private func day(_ offset: Int64) -> String {
    String(decoding: HTTPDate.format(now + offset).dropFirst(5).prefix(11), as: UTF8.self)
  }

  @Test("names, kinds of key and ends are shown")
  func shown() throws {
    let ca = maker.make(names: ["Root"], isCA: true)
    let middle = maker.make(names: ["Middle"], issuer: ca, isCA: true)
    let names = ["a.example", "*.b.example", "127.0.0.1"]
    let ec = maker.make(names: names, issuer: middle, notAfter: 90 * 86_400)
    let rsa = maker.make(names: names, kind: .rsa, issuer: middle, notAfter: 90 * 86_400)
    let check = try check(section((ec.certificate, ec.key), (rsa.certificate, rsa.key)))
    #expect(check.issues == [])
    let rest = "for a.example, *.b.example, 127.0.0.1, until \(day(90 * 86_400))"
    #expect(
      check.lines == [
        "[tls:web] \(ec.certificate): ECDSA P-256 \(rest)", "[tls:web] \(rsa.certificate): RSA 2048 \(rest)",
      ])
  }

  @Test("each broken file is an error with its line, none hides another")
  func broken() throws {
    let one = maker.make(names: ["a.example"], notAfter: 90 * 86_400)
    let two = maker.make(names: ["a.example"], kind: .rsa, notAfter: 90 * 86_400)
    let check = try check(section((one.certificate, two.key), ("/none.pem", "/none.key"), (two.certificate, two.key)))
    #expect(
      check.issues.map(\.description) == [
        "/t.ini:9: [tls:web] key: \(two.key): the key does not belong to the certificate in \(one.certificate)",
        "/t.ini:10: [tls:web] certificate: /none.pem: cannot be read: No such file or directory",
      ])
    #expect(check.lines == [])
  }

  @Test("an OCSP response and authorities that cannot be read are errors, too")
  func others() throws {
    let one = maker.make(names: ["a.example"], notAfter: 90 * 86_400)
    let text = maker.write("text", "text")
    let ocsp = try check(section((one.certificate, one.key), more: "ocsp = \(text)"))
    #expect(ocsp.issues.count == 1)
    #expect(ocsp.issues.first?.description.hasPrefix("/t.ini:10: [tls:web] ocsp: \(text): ") == true)
    let more = "client-ca = \(text)\nclient-certificate = required"
    let clients = try check(section((one.certificate, one.key), more: more))
    #expect(
      clients.issues.map(\.description) == ["/t.ini:10: [tls:web] client-ca: \(text): holds no certificate"])
  }

  @Test("a chain without its issuer and a stray OCSP response are warned of")
  func doubtful() throws {
    let ca = maker.make(names: ["Root"], isCA: true)
    let leaf = maker.make(names: ["a.example"], issuer: ca, notAfter: 90 * 86_400, saysWhereIssuerIs: true)
    let other = maker.make(names: ["b.example"], issuer: ca, notAfter: 90 * 86_400)
    let ocsp = maker.write(maker.ocsp(for: other, issuer: ca), "other.ocsp")
    let own = try check(section((other.certificate, other.key)))
    let note = "; clients need the certificate of its issuer (CN=Root)"
    #expect(own.issues == [] && own.lines.count == 1 && own.lines.allSatisfy { $0.hasSuffix(note) })
    let check = try check(section((leaf.certificate, leaf.key), more: "ocsp = \(ocsp)"))
    #expect(check.issues.allSatisfy { $0.severity == .warning })
    #expect(Set(check.issues.compactMap(\.key)) == ["certificate", "ocsp"])
    #expect(check.lines.count == 1)
  }

  @Test(
    "a certificate's end is warned of",
    arguments: [
      (30 * 86_400, nil), (30 * 86_400 - 1, "expires on END, in 29 days"), (86_400, "expires on END, in 1 day"),
      (86_399, "expires on END, in 0 days"), (-1, "has expired on END: clients refuse it"),
    ] as [(Int64, String?)])
  func end(_ left: Int64, _ message: String?) throws {
    let one = maker.make(names: ["a.example"], notBefore: -90 * 86_400, notAfter: 3600)
    let check = try check(section((one.certificate, one.key)), now: now + 3600 - left)
    // The certificate was made within the last second or two.
    guard let message else { return #expect(check.issues.count <= 1) }
    #expect(check.issues.map(\.severity) == [.warning])
    let words = message.replacing("END", with: day(3600))
    let text = check.issues.first?.message ?? ""
    #expect(text.hasPrefix("\(one.certificate) ") && (text.hasSuffix(words) || left % 86_400 == 86_399), "\(text)")
    #expect(check.lines.count == 1)
  }

  @Test("so is one that is not valid yet")
  func begin() throws {
    let one = maker.make(names: ["a.example"], notBefore: 86_400, notAfter: 90 * 86_400)
    let check = try check(section((one.certificate, one.key)))
    #expect(check.issues.first?.message == "\(one.certificate) is not valid before \(day(86_400)): clients refuse it")
  }

  @Test("hosts that no certificate is for are named where all listeners speak TLS")
  func hosts() throws {
    let one = maker.make(names: ["a.example", "*.b.example"], notAfter: 90 * 86_400)
    let site = "\nhost = a.example x.b.example c.example y.x.b.example b.example"
    let text = section((one.certificate, one.key))
    #expect(
      try check(text, site: site).issues.map(\.message) == [
        "no certificate is for c.example", "no certificate is for y.x.b.example", "no certificate is for b.example",
      ])
    #expect(try check(text + "[listen:b]\naddress = 127.0.0.1:80", site: site).issues == [])
  }

  @Test("a name of two sections is said to be the first one's")
  func twice() throws {
    let one = maker.make(names: ["a.example", "b.example"], notAfter: 90 * 86_400)
    let text = """
      [listen:a]
      tls = web, other
      [tls:web]
      certificate = \(one.certificate)
      key = \(one.key)
      [tls:other]
      certificate = \(one.certificate)
      key = \(one.key)
      """
    #expect(
      try check(text).issues.map(\.description)
        == ["a.example", "b.example"].map {
          "/t.ini:6: [listen:a] tls: [tls:web] and [tls:other] are both for \($0): the first is shown (warning)"
        })
  }

  @Test("the files of an upstream are read")
  func upstream() throws {
    let ca = maker.make(names: ["Root"], isCA: true)
    let own = maker.make(names: ["pawl"], issuer: ca, notAfter: 3 * 86_400 + 60)
    let site = "\n[route:default/x]\npath = /x\nupstream = x"
    func text(_ authority: String, _ key: String) -> String {
      "[upstream:x]\nurl = https://x\ntls-ca = \(authority)\ntls-certificate = \(own.certificate)\ntls-key = \(key)"
    }
    let fine = try check(text(ca.certificate, own.key), site: site)
    #expect(fine.issues.map(\.message) == ["\(own.certificate) expires on \(day(3 * 86_400 + 60)), in 3 days"])
    #expect(fine.issues.first?.key == "tls-certificate")
    #expect(fine.lines == ["[upstream:x] \(own.certificate): ECDSA P-256 for pawl, until \(day(3 * 86_400 + 60))"])
    let broken = try check(text("/none", ca.key), site: site)
    #expect(
      broken.issues.map(\.description) == [
        "/t.ini:10: [upstream:x] tls-ca: /none: cannot be read: No such file or directory",
        "/t.ini:12: [upstream:x] tls-key: \(ca.key): the key does not belong to the certificate in \(own.certificate)",
      ])
  }
}
