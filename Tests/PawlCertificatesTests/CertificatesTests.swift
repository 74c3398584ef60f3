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
    certificates.reload(try configuration("tls = web", section(new)))
    #expect(shown.current !== first && shown.current.certificates.map(\.names) == [["b.example"]])
    #expect(first.certificates.map(\.names) == [["a.example"]])
    events.flush()
    #expect(lines.withLock { $0 }.map { String($0.dropFirst(25)) } == ["notice tls-reloaded listen=a certificates=1"])
  }

  @Test("what cannot be read leaves what there is, and says which file; at the start it is an error")
  func broken() throws {
    let lines = TestLock<[String]>([])
    let good = maker.make(names: ["a.example"])
    let bad = try configuration("tls = web", "[tls:web]\ncertificate = /nowhere/a.pem\nkey = \(good.key)")
    #expect(throws: TLSProblem.self) { try Certificates(bad, events: EventLog { _ in }, clock: SystemClock()) }
    let before = try configuration("tls = web", section(good))
    let events = EventLog { line in lines.withLock { $0.append(line) } }
    let certificates = try Certificates(before, events: events, clock: SystemClock())
    let shown = try #require(certificates.of(before.listeners[0]))
    let first = shown.current
    certificates.reload(bad)
    #expect(shown.current === first)
    events.flush()
    let said = lines.withLock { $0 }
    #expect(
      said.count == 1
        && said.contains { $0.contains("file=/nowhere/a.pem") && $0.contains("the old certificates stay") })
  }
}
