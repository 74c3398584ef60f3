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

/// The certificates of a new configuration, which were read and are not shown yet.
package struct PreparedCertificates: Sendable {
  struct Listener: Sendable {
    var sections: [TLSServerSettings]
    var offersHTTP2: Bool
    var marks: [FileMark?]
    var context: TLSServerContext
  }
  /// By the name of the listener.
  var listeners: [String: Listener] = [:]
}

/// All certificates of the server, read when pawl starts, at a reload, and when their files change.
///
/// Running connections are not affected. If changed files cannot be read, the old certificates stay in use. Safe on any thread.
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

  /// The certificates that are shown to clients now, in no order. Any thread.
  package var served: [CertificateFacts] {
    entries.withLock { $0.values.flatMap { $0.certificates.current.certificates } }
  }

  /// The TLS sections in use, by the name of their listener.
  var sectionsInUse: [String: [TLSServerSettings]] { entries.withLock { $0.mapValues(\.sections) } }

  package var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  // MARK: - Reading again

  /// Reads all files that the new settings name. Nothing changes before ``use(_:)``. Blocking.
  package func prepare(_ configuration: PawlConfig.Configuration) throws(TLSProblem) -> PreparedCertificates {
    var prepared = PreparedCertificates()
    for listener in configuration.listeners where !listener.tls.isEmpty {
      let sections = configuration.sections(of: listener)
      // Get the marks before the files are read. So a file that changes meanwhile is read again.
      let marks = Self.marks(sections)
      let context = try TLSServerContext(sections, offersHTTP2: listener.http2, tickets: tickets)
      prepared.listeners[listener.name] = PreparedCertificates.Listener(
        sections: sections, offersHTTP2: listener.http2, marks: marks, context: context)
    }
    return prepared
  }

  /// Shows these certificates to new connections from now on. Listeners that use no TLS any more are forgotten.
  package func use(_ prepared: PreparedCertificates) {
    entries.withLock { entries in
      for name in entries.keys where prepared.listeners[name] == nil { entries[name] = nil }
      for (name, new) in prepared.listeners {
        let old = entries[name]
        old?.certificates.replace(by: new.context)
        entries[name] = Entry(
          certificates: old?.certificates ?? ListenerCertificates(new.context), sections: new.sections,
          offersHTTP2: new.offersHTTP2, watch: CertificateWatch(new.marks), generation: (old?.generation ?? 0) + 1)
      }
    }
    for (name, new) in prepared.listeners.sorted(by: { $0.key < $1.key }) { say(.success(new.context), of: name) }
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
      if isDue { read(name, entry.sections, entry.generation) }
    }
    warn()
  }

  private func read(_ name: String, _ sections: [TLSServerSettings], _ generation: Int) {
    guard let offersHTTP2 = entries.withLock({ $0[name]?.offersHTTP2 }) else { return }
    let marks = Self.marks(sections)
    let result = Result { () throws(TLSProblem) in
      try TLSServerContext(sections, offersHTTP2: offersHTTP2, tickets: tickets)
    }
    let isSaid = entries.withLock { entries -> Bool in
      guard var entry = entries[name], entry.generation == generation else { return false }
      defer { entries[name] = entry }
      switch result {
      case .success(let context):
        entry.watch.loaded(marks)
        entry.certificates.replace(by: context)
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
