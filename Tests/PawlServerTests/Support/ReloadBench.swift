import PawlHTTP
import PawlLoop
import PawlObserve
import PawlTestKit
import Testing

@testable import PawlCacheStore
@testable import PawlCertificates
@testable import PawlConfig
@testable import PawlServer

/// A running server with a section of every kind, of which one key at a time is changed by a reload.
final class ReloadBench {
  let folder: TemporaryFolder
  let server: Server
  private let maker: TestCertificates
  let authority: TestCertificate
  private let own: TestCertificate
  let other: TestCertificate
  let ocsp: String
  private(set) var configuration: PawlConfig.Configuration

  init() throws {
    folder = try TemporaryFolder()
    let maker = TestCertificates()
    self.maker = maker
    authority = maker.make(names: ["authority"], isCA: true)
    own = maker.make(names: ["a.example"], issuer: authority)
    other = maker.make(names: ["b.example"], issuer: authority)
    ocsp = maker.write(maker.ocsp(for: own, issuer: authority), "a.ocsp")
    let text = Self.text(folder, own, changing: nil)
    configuration = try Self.load(text)
    server = try Server(configuration, events: EventLog { _ in }, clock: ManualClock())
  }

  deinit { server.stop() }

  /// The label of the section whose keys are changed.
  static func label(of kind: SectionKind) -> String {
    switch kind {
    case .pawl, .admin, .include: kind.rawValue
    case .route: "route:main/r"
    case .listen, .tls, .cache, .spool, .upstream, .site: "\(kind.rawValue):main"
    }
  }

  /// Returns the configuration with other lines in one section. A line replaces the section's own line with that key.
  func load(changing label: String, _ lines: [String]) throws -> PawlConfig.Configuration {
    try Self.load(Self.text(folder, own, changing: (label, lines)))
  }

  private static func load(_ text: String) throws -> PawlConfig.Configuration {
    let more = "[site:more]\nhost = more.example\nupstream = main"
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { .success(Array(($0 == "/test/more.ini" ? more : text).utf8)) },
      listFiles: { _ in [] }, isRoot: false)
    return try ConfigurationLoader.load(path: "/test/pawl.ini", surroundings: surroundings)
  }

  private static func text(
    _ folder: TemporaryFolder, _ own: TestCertificate, changing: (label: String, lines: [String])?
  ) -> String {
    let sections: [(String, [String])] = [
      (
        "pawl",
        [
          "state-dir = \(folder.path)", "workers = 1", "access-log = \(folder.path)/access.log",
          "trusted-proxies = 127.0.0.2",
        ]
      ),
      ("listen:main", ["address = 127.0.0.1:0", "tls = main"]), ("listen:second", ["address = 127.0.0.1:0"]),
      ("tls:main", ["certificate = \(own.certificate)", "key = \(own.key)"]),
      ("cache:main", ["path = \(folder.path)/main-cache", "min-free = 0", "max-size = 64M"]),
      ("spool:main", ["path = \(folder.path)/main-spool", "max-size = 64M"]),
      ("spool:second", ["path = \(folder.path)/second"]),
      ("upstream:main", ["url = https://127.0.0.1:1", "check-path = /up"]),
      ("upstream:second", ["url = http://127.0.0.1:1"]),
      ("site:main", ["upstream = main", "cache = main", "spool = main"]), ("route:main/r", ["path = /r*"]),
      ("route:main/s", ["path = /s*", "spool = second", "upstream = second"]), ("admin", []), ("include", []),
    ]
    return sections.map { label, own in
      let new = label == changing?.label ? changing?.lines ?? [] : []
      let keys = Set(new.map { $0.prefix { $0 != " " } })
      let kept = own.filter { line in !keys.contains(line.prefix { $0 != " " }) }
      return kept.isEmpty && new.isEmpty ? "" : "[\(label)]\n" + (kept + new).map { $0 + "\n" }.joined()
    }.joined()
  }

  /// What a section of this kind is for the running server, as a text.
  func probe(_ kind: SectionKind) -> String {
    switch kind {
    case .pawl, .admin, .include: ""
    case .listen: onLoop { "\($0.listeners.map(\.settings))" }
    case .tls: "\(server.certificates.sectionsInUse)"
    case .cache: onRoute { "\($0.cache.map { "\($0.core.place.path) \($0.limitsInUse)" } ?? "")" }
    case .spool: onRoute { "\($0.uploads?.directory ?? "") \(String(describing: $0.uploads?.store.settings))" }
    case .upstream:
      server.parts.withLock { parts in "\(parts.upstreams["main"].map { ($0.upstream.settings, $0.settings) } as Any)" }
    case .site: onRouter { "\($0.site(Bytes("x.example"))?.hosts ?? []) \($0.all[0].settings)" }
    case .route:
      onRouter { router in
        "\(router.site(Bytes("a"))?.routes.map { ($0.path.description, "\($0.settings.settings)") } as Any)"
      }
    }
  }

  /// The access log that the first loop uses: another one after each change of its settings.
  var accessLog: String { onLoop { loop in loop.services.accessLog.map { "\(ObjectIdentifier($0))" } ?? "off" } }

  private func onLoop(_ look: @escaping @Sendable (ServerLoop) -> String) -> String {
    let first = server.loops[0]
    return first.loop.answer { look(first.server.get()) } ?? "the loop ended"
  }

  private func onRouter(_ look: @escaping @Sendable (Router) -> String) -> String {
    onLoop { look($0.services.router) }
  }

  private func onRoute(_ look: @escaping @Sendable (RouteSettings) -> String) -> String {
    onRouter { look($0.all[0]) }
  }
}
