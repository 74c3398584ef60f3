import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Server side of TLS") struct TLSServerContextTests {
  @Test("a certificate is chosen by name: exact, then wildcard of one label, then the first section")
  func names() throws {
    let wild = Made.certificates.make(names: ["*.a.example", "x.y.a.example"], issuer: Made.root)
    let bare = Made.certificates.make(names: ["*", "*.*.c.example", "w*.c.example"], issuer: Made.root)
    let context = try Made.server([
      Made.section("a", [Made.ecdsa]), Made.section("wild", [wild]), Made.section("b", [Made.b]),
      Made.section("bare", [bare]),
    ])
    let rows: [(String, Int)] = [
      ("a.example", 0), ("www.a.example", 1), ("x.y.a.example", 1), ("z.y.a.example", 0), ("b.example", 2),
      ("q.b.example", 2), ("q.q.b.example", 0), ("", 0), ("b.example.", 2), ("x.c.example", 0), ("w1.c.example", 0),
      ("127.0.0.1", 0), (".b.example", 0), ("anything", 0),
    ]
    for (name, section) in rows { #expect(context.section(for: Array(name.utf8)) == section, "\(name)") }
    for (name, section) in rows where !name.isEmpty && !name.hasPrefix(".") {
      let pair = try EnginePair(context, Made.client(verifies: false), name: name).shake()
      #expect(pair.isDone, "\(name)")
      #expect(pair.server.facts?.section == section, "\(name)")
      let shown = [Made.ecdsa, wild, Made.b, bare][section].der
      #expect(pair.shown == shown, "\(name)")
    }
  }

  @Test("several pairs in a section: other names have certificates of their own")
  func severalNames() throws {
    let context = try Made.server([Made.section("all", [Made.ecdsa, Made.b, Made.rsa])])
    for (name, leaf) in [("a.example", Made.ecdsa), ("b.example", Made.b), ("x.b.example", Made.b)] {
      #expect(try EnginePair(context, Made.client(), name: name).shake().shown == leaf.der, "\(name)")
    }
    #expect(context.certificates.map(\.keyKind) == ["ECDSA P-256", "ECDSA P-256", "RSA 2048"])
    #expect(context.section(for: Array("b.example".utf8)) == 0)
  }

  @Test(
    "of kinds of key side by side the client's signatures choose",
    arguments: [
      ("ECDSA+SHA256", "ECDSA P-256"), ("RSA-PSS+SHA256:RSA+SHA256", "RSA 2048"), ("ed25519", "Ed25519"),
      ("ECDSA+SHA256:RSA-PSS+SHA256", "ECDSA P-256"),
    ], [CInt(TLS1_2_VERSION), CInt(TLS1_3_VERSION)])
  func kinds(_ row: (signatures: String, kind: String), _ version: CInt) throws {
    let context = try Made.server([Made.section("a", [Made.rsa, Made.ed25519, Made.ecdsa])])
    let client = try Made.client().makeEngine(serverName: "a.example", place: "x")
    #expect(pawl_ssl_set_signatures(client.ssl, row.signatures) == 1)
    pawl_ssl_set_versions(client.ssl, version)
    // The certificate of the test's root is signed by ECDSA: without that in the list OpenSSL would not accept it.
    SSL_set_verify(client.ssl, SSL_VERIFY_NONE, nil)
    let pair = try EnginePair(context.makeEngine(), client).shake()
    #expect(pair.isDone)
    #expect(pair.server.facts?.version == (version == TLS1_2_VERSION ? .v12 : .v13))
    let shown = context.certificates.first { $0.keyKind == row.kind }?.file
    let expected = [Made.rsa, Made.ed25519, Made.ecdsa].first { $0.certificate == shown }
    #expect(pair.shown == expected?.der)
  }

  @Test("a section's least version holds for its names alone")
  func minVersion() throws {
    let context = try Made.server([
      Made.section("a", [Made.ecdsa]), Made.section("b", [Made.b], minVersion: .v13),
    ])
    for (name, isDone) in [("a.example", true), ("b.example", false)] {
      let client = try Made.client(verifies: false).makeEngine(serverName: name, place: "x")
      pawl_ssl_set_versions(client.ssl, CInt(TLS1_2_VERSION))
      let pair = try EnginePair(context.makeEngine(), client).shake()
      #expect(pair.isDone == isDone, "\(name)")
      if !isDone { #expect(pair.clientFailure?.kind == .alert(70)) }
    }
  }

  @Test("TLS 1.1 and older, and suites without ephemeral keys, are refused")
  func oldVersions() throws {
    let context = try Made.server([Made.section("a", [Made.rsa])])
    let old = try Made.client(verifies: false).makeEngine(serverName: "a.example", place: "x")
    pawl_ssl_set_versions(old.ssl, CInt(TLS1_1_VERSION))
    SSL_set_cipher_list(old.ssl, "ALL@SECLEVEL=0")
    #expect(try EnginePair(context.makeEngine(), old).shake().serverFailure != nil)
    let weak = try Made.client(verifies: false).makeEngine(serverName: "a.example", place: "x")
    pawl_ssl_set_versions(weak.ssl, CInt(TLS1_2_VERSION))
    SSL_set_cipher_list(weak.ssl, "AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-GCM-SHA256")
    #expect(try EnginePair(context.makeEngine(), weak).shake().clientFailure?.kind == .alert(40))
  }

  @Test("client certificates: off, asked for, demanded")
  func clientCertificates() throws {
    func outcome(
      _ mode: TLSServerSettings.ClientCertificates, _ person: TestCertificate?
    ) throws -> (EnginePair, PeerCertificate?) {
      let context = try Made.server([Made.section("a", [Made.ecdsa], ca: Made.root, clients: mode)])
      let pair = try EnginePair(context, Made.client(pair: person)).shake()
      return (pair, pair.server.facts?.peerCertificate)
    }
    #expect(try outcome(.off, Made.person).1 == nil)
    #expect(try outcome(.optional, nil).0.isDone)
    #expect(try outcome(.optional, nil).1 == nil)
    for mode in [TLSServerSettings.ClientCertificates.optional, .required] {
      let proven = try outcome(mode, Made.person).1
      #expect(proven?.subject == "CN=alice")
      #expect(proven?.der == Made.person.der)
      #expect(proven?.identity.isEmpty == false)
      let (refused, _) = try outcome(mode, Made.stranger)
      #expect(refused.serverFailure?.kind == .certificate)
      #expect(refused.serverFailure?.reason == "unable to get local issuer certificate (issuer CN=Other Root)")
      #expect(refused.read(refused.client).0 == .failed(EPROTO))
    }
    let missing = try outcome(.required, nil).0
    #expect(missing.serverFailure?.kind == .protocolError)
    #expect(missing.serverFailure?.reason == "peer did not return a certificate")
  }

  @Test("a renewed certificate of the same holder is the same identity, one of another issuer is not")
  func identity() throws {
    let context = try Made.server([Made.section("a", [Made.ecdsa], ca: Made.root, clients: .required)])
    let renewed = Made.certificates.make(names: ["alice"], issuer: Made.root)
    let first = try EnginePair(context, Made.client(pair: Made.person)).shake().server.facts?.peerCertificate
    let second = try EnginePair(context, Made.client(pair: renewed)).shake().server.facts?.peerCertificate
    #expect(first != nil && first?.identity == second?.identity)
    #expect(first?.der != second?.der)
  }

  @Test("says whether some section asks for certificates")
  func asks() throws {
    let plain = Made.section("a", [Made.ecdsa])
    #expect(try !Made.server([plain]).asksForCertificates)
    let asking = Made.section("b", [Made.b], ca: Made.root, clients: .optional)
    #expect(try Made.server([plain, asking]).asksForCertificates)
  }

  @Test("what is wrong is said with its file")
  func problems() throws {
    let folder = Made.certificates
    let nothing = folder.write("nothing here", "nothing")
    let locked = folder.write(folder.encryptedKey(of: Made.ecdsa, password: "x"), "locked.key")
    let broken = folder.write(
      Made.ecdsa.certificatePEM.split(separator: "\n").prefix(4).joined(separator: "\n"), "broken.pem")
    func load(_ certificate: String, _ key: String) -> TLSProblem? {
      let pair = TLSKeyPair(certificate: certificate, key: key)
      return problem { try Made.server([TLSServerSettings(name: "a", pairs: [pair])]) }
    }
    let (file, key) = (Made.ecdsa.certificate, Made.ecdsa.key)
    #expect(load("/nowhere.pem", key)?.description == "/nowhere.pem: cannot be read: No such file or directory")
    #expect(load(file, "/nowhere.key")?.description == "/nowhere.key: cannot be read: No such file or directory")
    #expect(load("/tmp", key)?.description == "/tmp: cannot be read: Is a directory")
    #expect(load(nothing, key)?.description == "\(nothing): holds no certificate")
    #expect(load(file, nothing)?.description == "\(nothing): holds no private key")
    #expect(load(broken, key)?.description.hasPrefix("\(broken): certificate 1 is damaged") == true)
    #expect(
      load(file, locked)?.description == "\(locked): the key is encrypted: use a key file without a password")
    for other in [Made.b.key, Made.rsa.key] {
      #expect(load(file, other)?.description == "\(other): the key does not belong to the certificate in \(file)")
    }
    let turned = folder.write(Made.root.certificatePEM + Made.ecdsa.certificatePEM, "turned.pem")
    #expect(
      load(turned, key)?.description == "\(turned): the certificate that belongs to the key must be the first one")
    #expect(problem { try Made.server([]) }?.reason == "no certificate is configured")
    #expect(problem { try Made.server([Made.section("a", [])]) }?.reason == "[tls:a] has no certificate")
    #expect(
      problem { try Made.server([Made.section("a", [Made.ecdsa], clients: .required)]) }?.reason
        == "[tls:a] asks for client certificates without client-ca")
  }

  @Test("facts name what is there, an expired certificate included; an incomplete chain is a warning")
  func facts() throws {
    let context = try Made.server([Made.section("a", [Made.expired]), Made.section("b", [Made.b])])
    #expect(context.certificates.map(\.section) == ["a", "b"])
    #expect(context.certificates.map(\.names) == [["a.example"], ["b.example", "*.b.example"]])
    #expect(context.certificates[0].notAfter < wallSeconds())
    #expect(context.certificates[1].notAfter > wallSeconds() + 86_400 * 29)
    #expect(context.certificates.map(\.missingIssuer) == ["CN=Test Root", nil] && context.warnings == [])
    let advertised = Made.certificates.make(names: ["c.example"], issuer: Made.root, saysWhereIssuerIs: true)
    let words = "holds no certificate of its issuer (CN=Test Root): clients that do not have it cannot verify"
    #expect(
      try Made.server([Made.section("c", [advertised])]).warnings == [TLSProblem(words, file: advertised.certificate)])
  }
}
