import COpenSSL
import PawlTestKit
import Testing

@testable import PawlTLS

@Suite("Client side of TLS") struct TLSClientContextTests {
  private func failure(
    _ leaf: TestCertificate, _ client: TLSClientContext, _ name: String = "a.example"
  ) throws -> TLSFailure? {
    let pair = try EnginePair(Made.server([Made.section("s", [leaf])]), client, name: name).shake()
    #expect(pair.clientFailure != nil || pair.isDone)
    return pair.clientFailure
  }

  @Test("accepts what its authority issued, for the name or address asked for")
  func accepts() throws {
    let address6 = Made.certificates.make(names: ["2001:db8::1"], issuer: Made.root)
    let client = try Made.client()
    #expect(try failure(Made.ecdsa, client) == nil)
    #expect(try failure(Made.ecdsa, client, "127.0.0.1") == nil)
    #expect(try failure(address6, client, "2001:db8::1") == nil)
    #expect(try failure(Made.b, client, "x.b.example") == nil)
    #expect(try failure(Made.alone, Made.client(ca: Made.alone)) == nil)
    #expect(try failure(Made.b, Made.client(ca: Made.middle), "b.example") == nil)
  }

  @Test("says what is wrong with a certificate")
  func refuses() throws {
    let client = try Made.client()
    let day = { (leaf: TestCertificate) throws in
      try VerifyProblem.day(#require(PEMFile(leaf.certificate).certificates().first).notAfter)
    }
    let early = try VerifyProblem.day(#require(PEMFile(Made.early.certificate).certificates().first).notBefore)
    let rows: [(TestCertificate, TLSClientContext, String, String)] = try [
      (Made.expired, client, "a.example", "certificate has expired (\(day(Made.expired)))"),
      (Made.early, client, "a.example", "certificate is not yet valid (from \(early))"),
      (Made.alone, client, "a.example", "self-signed certificate (CN=a.example)"),
      (Made.ecdsa, client, "c.example", "certificate is for a.example, 127.0.0.1, not c.example"),
      (Made.ecdsa, client, "127.0.0.2", "certificate is for a.example, 127.0.0.1, not 127.0.0.2"),
      (Made.b, client, "x.y.b.example", "certificate is for b.example, *.b.example, not x.y.b.example"),
      (
        Made.ecdsa, Made.client(ca: Made.otherRoot), "a.example",
        "unable to get local issuer certificate (issuer CN=Test Root)"
      ),
    ]
    for (leaf, client, name, words) in rows {
      #expect(try failure(leaf, client, name) == TLSFailure(.certificate, words))
    }
  }

  @Test("the system's authorities do not know a test's")
  func system() throws {
    let client = try TLSClientContext(TLSClientSettings())
    #expect(try failure(Made.ecdsa, client)?.kind == .certificate)
  }

  @Test("without verification anything goes, and nothing is said to be verified")
  func unverified() throws {
    let client = try Made.client(verifies: false)
    #expect(try failure(Made.expired, client, "other.example") == nil)
    let pair = try EnginePair(Made.server([Made.section("s", [Made.expired])]), client).shake()
    #expect(pair.client.facts?.peerCertificate == nil)
  }

  @Test("names are sent by SNI, addresses are not")
  func serverNames() throws {
    let context = try Made.server([Made.section("s", [Made.ecdsa])])
    for (name, sent) in [("a.example", "a.example"), ("127.0.0.1", "")] {
      let pair = try EnginePair(context, Made.client(), name: name).shake()
      #expect(pair.server.facts?.serverName == Array(sent.utf8))
    }
  }

  @Test("sessions are resumed at the same place, under the same name", arguments: [0x303, 0x304])
  func resumes(_ version: CInt) throws {
    let context = try Made.server([Made.section("s", [Made.ecdsa])])
    let client = try Made.client()
    func connect(_ name: String, _ place: String) throws -> Bool? {
      let engine = client.makeEngine(serverName: name, place: place)
      pawl_ssl_set_versions(engine.ssl, version)
      let pair = try EnginePair(context.makeEngine(), engine).shake()
      _ = pair.read(pair.client)
      return pair.client.facts?.isResumed
    }
    #expect(try connect("a.example", "one") == false)
    #expect(try connect("a.example", "two") == false)
    #expect(try connect("127.0.0.1", "one") == false)
    for _ in 0..<4 { #expect(try connect("a.example", "one") == true) }
    #expect(client.sessions.count <= 3 * ClientSessions.perPlace)
  }

  @Test("no newer version than allowed is spoken, and what is offered by ALPN can be chosen")
  func versionsAndProtocols() throws {
    func facts(_ settings: TLSClientSettings) throws -> TLSFacts? {
      let server = try Made.server([Made.section("s", [Made.ecdsa])])
      return try EnginePair(server, TLSClientContext(settings)).shake().client.facts
    }
    let usual = try facts(TLSClientSettings(verifies: false))
    #expect(usual?.version == .v13 && usual?.applicationProtocol == Array("http/1.1".utf8))
    let old = try facts(TLSClientSettings(verifies: false, maxVersion: .v12, protocols: ["h2"]))
    #expect(old?.version == .v12 && old?.applicationProtocol == Array("h2".utf8))
  }

  @Test("problems with its files are said")
  func problems() {
    let missing = problem { try TLSClientContext(TLSClientSettings(ca: "/nowhere.pem")) }
    #expect(missing?.description == "/nowhere.pem: cannot be read: No such file or directory")
    let pair = TLSKeyPair(certificate: Made.person.certificate, key: Made.stranger.key)
    let mixed = problem { try TLSClientContext(TLSClientSettings(verifies: false, pair: pair)) }
    #expect(mixed?.file == Made.stranger.key)
  }
}
