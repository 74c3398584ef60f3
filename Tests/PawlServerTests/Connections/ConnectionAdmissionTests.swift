import PawlBase
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve
import Testing

@testable import PawlServer

@Suite("Who is let in") struct ConnectionAdmissionTests {
  @Test("clients up to the limit and not one more; that one is turned away is said once a minute")
  func limit() {
    let log = Locked([String]())
    let events = EventLog { line in log.withLock { $0.append(line) } }
    let failures = FailureLog(events: events, clock: ManualClock())
    let admission = ConnectionAdmission(limit: 2, trusted: [], events: events)
    #expect(admission.admit(failures) && admission.admit(failures))
    #expect(!admission.admit(failures) && !admission.admit(failures))
    admission.release()
    #expect(admission.admit(failures) && !admission.admit(failures))
    events.flush()
    let lines = log.withLock { $0.filter { $0.contains(" connections-refused ") } }
    #expect(lines.count == 1 && lines.first?.contains("max-connections=2") == true)
  }

  @Test("another limit holds for the next client; those that are beyond it stay")
  func changed() throws {
    let events = EventLog { _ in }
    let failures = FailureLog(events: events, clock: ManualClock())
    let admission = ConnectionAdmission(limit: 2, trusted: [], events: events)
    let peer = SocketAddress.parse("192.0.2.1:9")
    #expect(admission.admit(failures) && admission.admit(failures) && !admission.isTrusted(peer))
    admission.change(limit: 1, trusted: [try #require(AddressRange("192.0.2.0/24"))])
    #expect(admission.isTrusted(peer))
    admission.release()
    #expect(!admission.admit(failures))
    admission.change(limit: 3, trusted: [])
    #expect(admission.admit(failures) && admission.admit(failures) && !admission.admit(failures))
    #expect(!admission.isTrusted(peer))
  }
}
