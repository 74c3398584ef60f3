import PawlBase
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
}
