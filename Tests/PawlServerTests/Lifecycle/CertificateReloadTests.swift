import CLinux
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("Certificates that are replaced") struct CertificateReloadTests {
  private func replace(_ old: TestCertificate, by new: TestCertificate, in certificates: TestCertificates) {
    certificates.write(new.certificatePEM, "next.pem")
    certificates.write(new.keyPEM, "next.key")
    #expect(rename("\(certificates.folder)/next.pem", old.certificate) == 0)
    #expect(rename("\(certificates.folder)/next.key", old.key) == 0)
  }

  @Test("are shown to new connections; those that run go on, and sessions from before are resumed")
  func replaced() throws {
    let server = try SecureServer()
    let (old, failure) = server.connect()
    #expect(failure == nil)
    old.send(SecureServer.request())
    #expect(old.readAnswer().text == "ok")
    let session = old.session
    let new = server.certificates.make(names: ["a.example"], issuer: server.authority)
    replace(server.a, by: new, in: server.certificates)
    server.pawl.advancing { server.pawl.waitFor("tls-reloaded") }
    #expect(server.pawl.events("tls-reloaded") == ["notice tls-reloaded listen=default certificates=2"])
    #expect(server.connect().client.handshake?.certificate == new.der)
    let (resumed, why) = server.connect(TLSOffer("a.example", session: session))
    #expect(why == nil)
    #expect(resumed.handshake?.isResumed == true)
    old.send(SecureServer.request())
    #expect(old.readAnswer().text == "ok")
    old.close()
    #expect(server.pawl.stop() == [])
  }

  @Test("stay as they were when the new file is broken, which is said once, and only when it is left like that")
  func broken() throws {
    let server = try SecureServer()
    server.certificates.write("no certificate", "broken.pem")
    #expect(rename("\(server.certificates.folder)/broken.pem", server.a.certificate) == 0)
    server.pawl.advancing { server.pawl.waitFor("tls-reload-failed") }
    #expect(server.connect().client.handshake?.certificate == server.a.der)
    server.certificates.write(server.a.certificatePEM, "again.pem")
    #expect(rename("\(server.certificates.folder)/again.pem", server.a.certificate) == 0)
    server.pawl.advancing { server.pawl.waitFor("tls-reloaded") }
    let said = server.pawl.events("tls-reload-failed")
    #expect(said.count == 1)
    #expect(said.first?.contains("file=\(server.a.certificate)") == true)
    #expect(said.first?.contains("the old certificates stay") == true)
    #expect(server.pawl.stop() == [])
  }

  @Test("follow new settings at a reload; settings that cannot be used change nothing")
  func settings() throws {
    let server = try SecureServer()
    func reload(_ sections: String, tls: String = "a b", hsts: String = "1d") throws -> ReloadOutcome {
      server.pawl.server.reload(
        try TestServer.configuration(url: "http://127.0.0.1:\(server.origin.port)", in: server.pawl.folder) {
          $0.listen = "tls = \(tls)\nkeepalive-timeout = 1h"
          $0.site = "cache = off\nhsts = \(hsts)"
          $0.more = sections
        })
    }
    // Another first section, which names that nobody has are shown.
    #expect(try reload(SecureServer.sections(server.a, server.b), tls: "b a").isApplied)
    #expect(server.connect(TLSOffer("c.example")).client.handshake?.certificate == server.b.der)
    #expect(server.ask()?["Strict-Transport-Security"] == "max-age=86400")
    let outcome = try reload(
      SecureServer.sections(server.a, server.b, "client-ca = /nowhere/ca.pem\nclient-certificate = optional"),
      hsts: "2d")
    #expect(!outcome.isApplied && outcome.mistakes.count == 1)
    #expect(outcome.mistakes.first?.contains("[tls:b] client-ca: cannot speak TLS: /nowhere/ca.pem: ") == true)
    #expect(server.pawl.events("reload-failed").count == 1)
    #expect(server.ask()?["Strict-Transport-Security"] == "max-age=86400")
    #expect(server.connect(TLSOffer("c.example")).client.handshake?.certificate == server.b.der)
    #expect(server.pawl.stop() == [])
  }

  @Test("that cannot be read keep the server from starting, and those about to expire are warned of")
  func start() throws {
    let certificates = TestCertificates()
    let a = certificates.make(names: ["a.example"])
    let folder = try TemporaryFolder()
    #expect(throws: ServerError.self) {
      _ = try TestServer(url: "http://127.0.0.1:1", in: folder) {
        $0.listen = "tls = a"
        $0.more = "[tls:a]\ncertificate = \(a.certificate)\nkey = \(certificates.folder)/nothing.key"
      }
    }
    let pawl = try TestServer(url: "http://127.0.0.1:1") {
      $0.listen = "tls = a"
      $0.more = "[tls:a]\ncertificate = \(a.certificate)\nkey = \(a.key)"
    }
    #expect(pawl.events("tls-certificate-expires") == [])
    pawl.stop()
  }
}
