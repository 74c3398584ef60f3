import PawlConfig
import PawlLoop
import PawlObserve
import PawlTLS
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What is said at the start") struct StartReportTests {
  /// The lines of a report, without their times.
  private func said(_ configuration: Configuration, _ say: (StartReport) -> Void) -> [String] {
    let lines = TestLock<[String]>([])
    let events = EventLog { line in lines.withLock { $0.append(line) } }
    say(StartReport(configuration, events))
    events.flush()
    return lines.withLock { $0 }.map { String($0.drop { $0 != " " }.dropFirst()) }
  }

  @Test("each address, with the names of its certificates")
  func listeners() throws {
    let folder = try TemporaryFolder()
    var configuration = try TestServer.configuration(url: "http://127.0.0.1:1", in: folder)
    var secure = ListenerSettings(name: "secure")
    secure.tls = ["web"]
    var clear = ListenerSettings(name: "clear")
    clear.addresses = [.internet(host: "127.0.0.1", port: 0), .unix(path: "/run/pawl.sock")]
    configuration.listeners = [clear, secure]
    let names = ["a.example", "b.example", "a.example"]
    let facts = CertificateFacts(
      section: "web", file: "c.pem", names: names, keyKind: "Ed25519", notBefore: 0, notAfter: 0, isStapled: false)
    let lines = said(configuration) { report in
      report.sayListeners(["http://127.0.0.1:8080", "http://unix:/run/pawl.sock", "https://127.0.0.1:8443"]) { _ in
        [facts]
      }
    }
    #expect(
      lines == [
        "notice listening url=http://127.0.0.1:8080 listen=clear",
        "notice listening url=http://unix:/run/pawl.sock listen=clear",
        "notice listening url=https://127.0.0.1:8443 listen=secure names=\"a.example, b.example\"",
      ])
  }

  @Test("eight names are written, and of more their number")
  func names() {
    let names = (1...9).map { "\($0).example" }
    #expect(
      StartReport.list(Array(names.prefix(8)), most: StartReport.mostNames) == names.prefix(8).joined(separator: ", "))
    #expect(
      StartReport.list(names, most: StartReport.mostNames) == names.prefix(8).joined(separator: ", ") + " and 1 more")
  }

  @Test("a cache without room, a spool in memory, and an open address without TLS")
  func willNotWork() throws {
    let folder = try TemporaryFolder()
    var configuration = try TestServer.configuration(url: "http://127.0.0.1:1", in: folder)
    #expect(said(configuration) { $0.sayWhatWillNotWork() }.filter { !$0.contains("tmpfs") } == [])
    configuration.caches[0].minFree = 1 << 60
    configuration.spools[0].path = "/dev/shm/pawl-test"
    configuration.listeners[0].addresses = [.internet(host: "0.0.0.0", port: 80)]
    let lines = said(configuration) { $0.sayWhatWillNotWork() }
    #expect(lines.count == 3)
    #expect(lines.first?.hasPrefix("warning will-not-work section=[cache:default] why=\"the file system of ") == true)
    #expect(
      lines.dropFirst() == [
        "warning will-not-work section=[spool:default] why=\"/dev/shm is in memory (tmpfs): uploads do not survive a restart of the machine\"",
        "notice will-not-work section=[listen:default] why=\"no tls: anyone on the way can read and change what clients get\"",
      ])
    configuration.process.trustedProxies = [try #require(AddressRange("10.0.0.0/8"))]
    #expect(said(configuration) { $0.sayWhatWillNotWork() }.count == 2)
  }
}
