import CLinux
import PawlConfig
import PawlLoop
import PawlObserve
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlCertificates

@Suite("Certificates of listeners") struct CertificatesTests {
  private let maker = TestCertificates()

  private func configuration(_ listen: String, _ sections: String) throws -> Configuration {
    try Configuration(site: "", "[listen:a]\n\(listen)\n\(sections)")
  }

  private func section(_ certificate: TestCertificate) -> String {
    "[tls:web]\ncertificate = \(certificate.certificate)\nkey = \(certificate.key)"
  }

  @Test("a listener in clear has none, and there is nothing to look at")
  func clear() throws {
    let configuration = try configuration("address = 127.0.0.1:0", "")
    let certificates = try Certificates(configuration, events: EventLog { _ in }, clock: SystemClock())
    #expect(certificates.isEmpty && certificates.of(configuration.listeners[0]) == nil)
  }

  @Test("what is read at a reload is shown from then on; connections keep what they began with")
  func reloaded() throws {
    let lines = TestLock<[String]>([])
    let (old, new) = (maker.make(names: ["a.example"]), maker.make(names: ["b.example"]))
    let before = try configuration("tls = web", section(old))
    let events = EventLog { line in lines.withLock { $0.append(line) } }
    let certificates = try Certificates(before, events: events, clock: SystemClock())
    let shown = try #require(certificates.of(before.listeners[0]))
    let first = shown.current
    let read = try certificates.prepare(try configuration("tls = web", section(new)))
    #expect(shown.current === first)
    certificates.use(read)
    #expect(shown.current !== first && shown.current.certificates.map(\.names) == [["b.example"]])
    #expect(first.certificates.map(\.names) == [["a.example"]])
    events.flush()
    #expect(lines.withLock { $0 }.map { String($0.dropFirst(25)) } == ["notice tls-reloaded listen=a certificates=1"])
  }

  @Test("what cannot be read is an error that names the file, and leaves what there is")
  func broken() throws {
    let good = maker.make(names: ["a.example"])
    let bad = try configuration("tls = web", "[tls:web]\ncertificate = /nowhere/a.pem\nkey = \(good.key)")
    #expect(throws: TLSProblem.self) { try Certificates(bad, events: EventLog { _ in }, clock: SystemClock()) }
    let before = try configuration("tls = web", section(good))
    let certificates = try Certificates(before, events: EventLog { _ in }, clock: SystemClock())
    let shown = try #require(certificates.of(before.listeners[0]))
    let first = shown.current
    do throws(TLSProblem) {
      _ = try certificates.prepare(bad)
      Testing.Issue.record("the file does not exist")
    } catch { #expect(error.file == "/nowhere/a.pem") }
    #expect(shown.current === first)
  }

  @Test("a listener that uses TLS from a reload on has some from then on, and one in clear has none any more")
  func turned() throws {
    let certificate = maker.make(names: ["a.example"])
    let clear = try configuration("address = 127.0.0.1:0", "")
    let secure = try configuration("tls = web", section(certificate))
    let certificates = try Certificates(clear, events: EventLog { _ in }, clock: SystemClock())
    certificates.use(try certificates.prepare(secure))
    #expect(certificates.of(secure.listeners[0])?.current.certificates.map(\.names) == [["a.example"]])
    certificates.use(try certificates.prepare(clear))
    #expect(certificates.isEmpty)
  }
}
