import PawlConfig
import PawlLoop
import PawlTLS
import PawlUpstream
import Testing

@testable import PawlServer

@Suite("Whether the server is well", .timeLimit(.minutes(1))) struct AdminHealthTests {
  private func health(_ picture: ServerPicture) -> AdminHealth {
    AdminHealth(picture, now: Monotonic(nanoseconds: 1), wall: 1_700_000_000)
  }

  @Test("only a drain, and no listener, make it not ready")
  func states() throws {
    let bench = try AdminBench()
    #expect(health(bench.shown).state == .ready)
    bench.shown.isDraining = true
    #expect(health(bench.shown).state == .draining && !health(bench.shown).isReady)
    bench.shown.isDraining = false
    bench.shown.urls = []
    #expect(health(bench.shown).state == .unavailable && !health(bench.shown).isReady)
  }

  @Test("what is not well is told, and leaves it ready")
  func reasons() throws {
    let bench = try AdminBench()
    let now = CertificateFacts(
      section: "web", file: "/c.pem", names: [], keyKind: "", notBefore: 0, notAfter: 1_700_000_000, isStapled: false)
    var expired = now
    expired.notAfter -= 1
    bench.shown.certificates = [now, expired]
    (bench.shown.openConnections, bench.shown.maxConnections) = (9, 10)
    #expect(health(bench.shown).reasons == [.init(what: "certificate-expired", detail: "[tls:web] /c.pem")])
    bench.shown.openConnections = 10
    bench.shown.lastReload = ServerPicture.Reload(
      at: 0, outcome: ReloadOutcome(isApplied: true, needsRestart: ["f:1: [pawl] workers: x"]))
    #expect(
      health(bench.shown).reasons.dropFirst() == [
        .init(what: "connections-full", detail: "max-connections (10) are open"),
        .init(what: "restart-needed", detail: "f:1: [pawl] workers: x"),
      ])
    #expect(health(bench.shown).state == .degraded && health(bench.shown).isReady)
    bench.shown.lastReload?.outcome = ReloadOutcome(isApplied: false, mistakes: ["f:2: no"])
    #expect(health(bench.shown).reasons.last == .init(what: "reload-failed", detail: "f:2: no"))
  }

  @Test("a node that rests is named, and an upstream without one that works")
  func nodes() throws {
    let bench = try AdminBench()
    let text = """
      [upstream:app]
      url = http://127.0.0.1:1
      url = http://127.0.0.1:2
      check-path = /
      check-fall = 1
      [site:default]
      upstream = app
      """
    let surroundings = Surroundings(
      environment: { _ in nil }, readFile: { _ in .success(Array(text.utf8)) }, listFiles: { _ in [] }, isRoot: false)
    let section = try ConfigurationLoader.load(path: "/x.ini", surroundings: surroundings).upstreams[0]
    let upstream = Upstream(section.forPool, resolver: Resolver())
    bench.shown.origins = [ServerPicture.Origin(section: section, upstream: upstream)]
    #expect(health(bench.shown).state == .ready)
    upstream.checked(1, failure: "x")
    #expect(
      health(bench.shown).reasons == [
        .init(what: "node-down", detail: "[upstream:app] http://127.0.0.1:2: fails-checks")
      ])
    upstream.checked(0, failure: "x")
    #expect(
      health(bench.shown).reasons == [.init(what: "upstream-down", detail: "[upstream:app] has no node that works")])
  }

  @Test("a client without the token learns the state alone")
  func anyone() throws {
    let bench = try AdminBench()
    bench.shown.certificates = [
      CertificateFacts(
        section: "web", file: "/c.pem", names: [], keyKind: "", notBefore: 0, notAfter: 0, isStapled: false)
    ]
    let answer = bench.ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(answer.status == 200 && answer.text == "{\"state\":\"degraded\"}\n")
    #expect(
      bench.ask("GET", "/readyz").text
        == #"{"state":"degraded","reasons":[{"reason":"certificate-expired","detail":"[tls:web] /c.pem"}]}"# + "\n")
    bench.shown.isDraining = true
    let draining = bench.ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(draining.status == 503 && draining.text == "{\"state\":\"draining\"}\n")
    #expect(draining.head.contains("\r\nRetry-After: 5\r\n"))
    #expect(bench.ask("GET", "/readyz/uploads").text == #"{"state":"draining","spools":[]}"# + "\n")
    bench.shown.isDraining = false
    #expect(bench.ask("GET", "/readyz/uploads").text == #"{"state":"ready","spools":[]}"# + "\n")
  }
}
