import PawlBase
package import PawlConfig
package import PawlLoop
package import PawlObserve
package import PawlTLS

/// The present certificates of one listener, read by loops at each handshake. Connections keep the certificates they began
/// with.
package final class ListenerCertificates: Sendable {
  private let context: Locked<TLSServerContext>

  init(_ context: TLSServerContext) { self.context = Locked(context) }

  package var current: TLSServerContext { context.withLock { $0 } }

  func replace(by new: TLSServerContext) { context.withLock { $0 = new } }
}

/// All certificates of the server, read when pawl starts, at a reload, and when their files change.
///
/// Running connections are not affected. If files cannot be read, the old certificates stay in use. Safe on any thread.
package final class Certificates: Sendable {
  /// The time between two looks at the files.
  package static let interval = Duration.seconds(1)

  private struct Entry {
    let certificates: ListenerCertificates
    var sections: [TLSServerSettings]
    var offersHTTP2: Bool
    var watch: CertificateWatch<FileMark>
    /// The number of reloads. If a reload begins while files are being read, the result of the earlier reading is dropped.
    var generation = 0
  }

  private let events: EventLog
  private let clock: any LoopClock
  private let tickets = TicketKeys()
  /// The certificates of the listeners, by name.
  private let entries = Locked<[String: Entry]>([:])
  private let expiry = Locked(CertificateExpiry())

  /// Reads the files of all listeners. Blocking.
  package init(
    _ configuration: PawlConfig.Configuration, events: EventLog, clock: any LoopClock
  ) throws(TLSProblem) {
    (self.events, self.clock) = (events, clock)
    for listener in configuration.listeners where !listener.tls.isEmpty {
      let sections = configuration.sections(of: listener)
      let marks = Self.marks(sections)
      let context = try TLSServerContext(sections, offersHTTP2: listener.http2, tickets: tickets)
      let entry = Entry(
        certificates: ListenerCertificates(context), sections: sections, offersHTTP2: listener.http2,
        watch: CertificateWatch(marks))
      entries.withLock { $0[listener.name] = entry }
      sayDoubts(context)
    }
    warn()
  }

  /// Returns the certificates of a listener; `nil`: it uses no TLS.
  package func of(_ listener: ListenerSettings) -> ListenerCertificates? {
    entries.withLock { $0[listener.name]?.certificates }
  }

  /// The certificates that are shown to clients now.
  package var served: [CertificateFacts] {
    entries.withLock { $0.values.flatMap { $0.certificates.current.certificates } }
  }

  package var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  // MARK: - Reading again

  /// Reads all files that the new settings name. A listener whose files cannot be read keeps its certificates. Blocking.
  package func reload(_ configuration: PawlConfig.Configuration) {
    for listener in configuration.listeners where !listener.tls.isEmpty {
      let sections = configuration.sections(of: listener)
      let generation = entries.withLock { entries -> Int? in
        entries[listener.name]?.generation += 1
        return entries[listener.name]?.generation
      }
      guard let generation else { continue }
      read(listener.name, sections, generation, saysAll: true)
    }
    warn()
  }

  /// Reads the files that have changed. Blocking; called once per ``interval``.
  package func look() {
    let all = entries.withLock { $0 }
    for (name, entry) in all {
      let marks = Self.marks(entry.sections)
      let isDue = entries.withLock { entries in
        entries[name]?.generation == entry.generation
          && entries[name]?.watch.looked(marks, at: clock.now()) == true
      }
      if isDue { read(name, entry.sections, entry.generation, saysAll: false) }
    }
    warn()
  }

  private func read(_ name: String, _ sections: [TLSServerSettings], _ generation: Int, saysAll: Bool) {
    guard let offersHTTP2 = entries.withLock({ $0[name]?.offersHTTP2 }) else { return }
    // Get the marks before the files are read. So a file that changes meanwhile is read again.
    let marks = Self.marks(sections)
    let result = Result { () throws(TLSProblem) in
      try TLSServerContext(sections, offersHTTP2: offersHTTP2, tickets: tickets)
    }
    let isSaid = entries.withLock { entries -> Bool in
      guard var entry = entries[name], entry.generation == generation else { return false }
      defer { entries[name] = entry }
      switch result {
      case .success(let context):
        entry.sections = sections
        entry.watch.loaded(marks)
        entry.certificates.replace(by: context)
        return true
      case .failure where saysAll:
        entry.sections = sections
        entry.watch.loaded(marks)
        return true
      case .failure: return entry.watch.couldNotLoad(marks, at: clock.now())
      }
    }
    if isSaid { say(result, of: name) }
  }

  private func say(_ result: Result<TLSServerContext, TLSProblem>, of listener: String) {
    switch result {
    case .success(let context):
      events.log(
        .notice, "tls-reloaded", ["listen": listener, "certificates": "\(context.certificates.count)"])
      sayDoubts(context)
    case .failure(let problem):
      events.log(
        .error, "tls-reload-failed",
        ["listen": listener, "file": problem.file ?? "-", "why": "\(problem.reason); the old certificates stay"])
    }
  }

  /// Logs problems of files that could be loaded, for instance an OCSP response that belongs to no certificate.
  private func sayDoubts(_ context: TLSServerContext) {
    for doubt in context.warnings {
      events.log(.warning, "tls-warning", ["file": doubt.file ?? "-", "why": doubt.reason])
    }
  }

  // MARK: - Time

  private func warn() {
    let served = entries.withLock { $0.values.flatMap { $0.certificates.current.certificates } }
    let now = clock.wallMilliseconds() / 1000
    for warning in expiry.withLock({ $0.warnings(of: served, at: now) }) {
      let (certificate, days) = (warning.certificate, warning.days)
      if warning.isExpired {
        events.log(
          .error, "tls-certificate-expired",
          ["tls": certificate.section, "file": certificate.file, "days-ago": "\(-days)"])
      } else {
        events.log(
          .warning, "tls-certificate-expires",
          ["tls": certificate.section, "file": certificate.file, "days-left": "\(days)"])
      }
    }
  }

  private static func marks(_ sections: [TLSServerSettings]) -> [FileMark?] {
    sections.flatMap(\.files).map(FileMark.of)
  }
}
