import PawlConfig
import PawlDisk
import PawlHTTP
import PawlTLS
import PawlTestKit
import PawlUpstream
import Testing

@testable import PawlServer

@Suite("Upstreams over TLS") struct UpstreamsTests {
  private let maker = TestCertificates()

  private func upstream(_ lines: String) throws -> UpstreamSection {
    let text = "[upstream:app]\n\(lines)\n[site:default]\nupstream = app"
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: false)
    let configuration = try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
    return try #require(configuration.upstreams.first)
  }

  @Test(
    "are known by the URL's host, or by tls-server-name",
    arguments: [
      ("url = https://App.example", "app.example"), ("url = https://app.example.:8443/base", "app.example"),
      ("url = https://[2001:db8::1]", "2001:db8::1"), ("url = https://127.0.0.1:1", "127.0.0.1"),
      ("url = https://127.0.0.1\ntls-server-name = b.example", "b.example"),
      ("url = https://127.0.0.1\ntls-server-name = [::1]", "::1"), ("url = http://app.example", nil),
      ("url = http://unix:/run/app\nurl = https://b.example", nil),
    ] as [(String, String?)])
  func names(_ lines: String, _ name: String?) throws {
    #expect(try upstream(lines).forPool.urls.first?.serverName == name)
  }

  @Test("take the keys of nodes")
  func nodes() throws {
    let lines = "url = http://a weight=3\nurl = http://b backup\nmax-rest = 1m\nrest-after-errors = 0\nbalance = hash"
    let settings = try upstream(lines + "\ncheck-path = /up\ncheck-interval = 1s\ncheck-fall = 3").forPool
    #expect(settings.urls.map(\.weight) == [3, 1])
    #expect(settings.urls.map(\.isBackup) == [false, true])
    var expected = NodeSettings()
    (expected.balance, expected.maxRest, expected.restAfterErrors) = (.hash, .seconds(60), 0)
    expected.checkFall = 3
    expected.check = NodeCheckSettings(
      path: Array("/up".utf8), interval: .seconds(1), timeout: .seconds(5), statuses: [200...399])
    #expect(settings.nodes == expected)
  }

  @Test("take the keys of tls")
  func settings() throws {
    #expect(try upstream("url = http://a").forTLS == nil)
    #expect(try upstream("url = https://a").forTLS == TLSClientSettings())
    let lines = "url = https://a\ntls-verify = off\ntls-certificate = /c\ntls-key = /k\ntls-min-version = 1.3"
    let pair = TLSKeyPair(certificate: "/c", key: "/k")
    #expect(try upstream(lines).forTLS == TLSClientSettings(verifies: false, pair: pair, minVersion: .v13))
    #expect(try upstream("url = https://a\ntls-ca = /ca").forTLS == TLSClientSettings(ca: "/ca"))
  }

  private func parts(_ running: TestServer, _ folder: TemporaryFolder, old: ServerParts?, _ ca: String) throws
    -> ServerParts
  {
    try ServerParts(
      TestServer.configuration(url: "https://127.0.0.1:1", in: folder) { $0.upstream = "tls-ca = \(ca)" },
      running.server.services, resolver: running.server.resolver, old: old)
  }

  @Test("whose files are broken stop the start or the reload, with section, file and reason")
  func broken() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let folder = try TemporaryFolder()
    let file = maker.write("no certificate", "broken.pem")
    do {
      _ = try parts(running, folder, old: nil, file)
      Issue.record("a broken file was taken")
    } catch let error as ServerError {
      #expect(error.description == "cannot speak TLS: [upstream:app] \(file): holds no certificate")
    }
    let fine = maker.make(names: ["Authority"], isCA: true)
    let first = try parts(running, folder, old: nil, fine.certificate)
    let second = try parts(running, folder, old: first, fine.certificate)
    #expect(second.upstreams["app"]?.upstream === first.upstreams["app"]?.upstream)
    maker.write("no certificate", String(fine.certificate.split(separator: "/").last ?? ""))
    #expect(throws: ServerError.self) { try parts(running, folder, old: second, fine.certificate) }
    second.closeStores()
  }

  @Test("a reason why their TLS fails is logged once a minute")
  func log() throws {
    let running = try TestServer(url: "http://127.0.0.1:1")
    let log = OriginFailureLog(upstream: "app", events: running.server.loopEvents, clock: running.clock)
    let expired = ProxyError(.tlsCertificateError, details: "127.0.0.1:1: certificate has expired")
    for _ in 0..<3 { log.note(expired) }
    log.note(ProxyError(.tlsProtocolError, details: "127.0.0.1:1: wrong version number"))
    #expect(running.events("origin-tls-failed").count == 2)
    running.clock.advance(by: .seconds(59))
    log.note(expired)
    #expect(running.events("origin-tls-failed").count == 2)
    running.clock.advance(by: .seconds(1))
    log.note(expired)
    #expect(
      running.events("origin-tls-failed").last
        == "warning origin-tls-failed upstream=app error=tls_certificate_error why=\"127.0.0.1:1: certificate has expired\""
    )
  }

  @Test("a body cut over TLS is resumed there, and the client sees one")
  func resumed() throws {
    let authority = maker.make(names: ["Authority"], isCA: true)
    let certificate = maker.make(names: ["origin.example"], issuer: authority)
    let (size, from) = (20_000, 10_000 - 4096)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\nETag: \"a\"\r\nAccept-Ranges: bytes\r\n\r\n"
    let rest =
      "HTTP/1.1 206 Partial Content\r\nContent-Length: \(size - from)\r\n"
      + "Content-Range: bytes \(from)-\(size - 1)/\(size)\r\nETag: \"a\"\r\n\r\n"
    let origin = ScriptedOrigin(
      .tcp, tls: ScriptedTLS(certificate: certificate.certificate, key: certificate.key),
      [.expectHead, .send(head), .sendPattern(count: 10_000), .withoutNotice],
      [.expectHead, .send(rest), .sendPattern(from: UInt64(from), count: size - from), .readToEnd])
    let running = try TestServer(url: "https://127.0.0.1:\(origin.port)", origin: origin) { changes in
      changes.upstream = "tls-ca = \(authority.certificate)\ntls-server-name = origin.example\nconnect-timeout = 1h"
    }
    let answer = running.advancing { running.get() }
    #expect(answer.status == 200)
    #expect(answer.content == OriginStep.pattern(from: 0, count: size))
    let requests = origin.received.map { String(decoding: $0, as: UTF8.self) }
    #expect(requests.first?.contains("X-Forwarded-Proto: http\r\n") == true)
    #expect(requests.first?.contains("Host: site\r\n") == true)
    #expect(requests.dropFirst().first?.contains("Range: bytes=\(from)-\r\n") == true)
    #expect(running.stop() == [])
    #expect(origin.handshakes.map(\.isResumed) == [false, true])
  }

  @Test("a certificate that is not right is a 502 that says what is wrong")
  func refused() throws {
    let authority = maker.make(names: ["Authority"], isCA: true)
    let certificate = maker.make(names: ["origin.example"], issuer: authority, notBefore: -7200, notAfter: -3600)
    let origin = ScriptedOrigin(
      .tcp, tls: ScriptedTLS(certificate: certificate.certificate, key: certificate.key), [])
    let running = try TestServer(url: "https://127.0.0.1:\(origin.port)", origin: origin) { changes in
      changes.upstream =
        "tls-ca = \(authority.certificate)\ntls-server-name = origin.example\nconnect-timeout = 1h\nresume-attempts = 0"
    }
    let answer = running.advancing { running.get() }
    #expect(answer.status == 502)
    #expect(answer["Proxy-Status"] == "pawl; error=tls_certificate_error")
    #expect(running.events("origin-tls-failed").first?.contains("certificate has expired") == true)
    running.stop()
  }
}
