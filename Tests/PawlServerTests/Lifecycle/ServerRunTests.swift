import PawlConfig
import PawlLoop
import PawlTestKit
import Testing

@testable import PawlServer

@Suite("What may be asked of the running server", .timeLimit(.minutes(1))) struct ServerRunTests {
  private let main: EventLoop
  private let pawl: TestServer

  init() throws {
    main = try EventLoop(index: -1)
    pawl = try TestServer(url: "http://127.0.0.1:1")
  }

  private func run(_ read: @escaping @Sendable () -> Result<Configuration, InvalidConfiguration>) -> ServerRun {
    ServerRun(pawl.server, loop: main, read: read)
  }

  @Test("a reload says whether the new configuration is in use")
  func reload() throws {
    let valid = try TestServer.configuration(url: "http://127.0.0.1:2", in: pawl.folder) {
      $0.pawl = "drain-timeout = 9s"
    }
    let read = TestLock<Result<Configuration, InvalidConfiguration>>(.success(valid))
    let outcomes = TestLock<[ReloadOutcome]>([])
    let run = run { read.withLock { $0 } }
    run.reload { outcome in outcomes.withLock { $0.append(outcome) } }
    main.turn { outcomes.withLock { $0.isEmpty } }
    let issue = PawlConfig.Issue(at: .file(path: "/p.ini", line: 3), section: "pawl", key: "workers", "wrong")
    read.withLock { $0 = .failure(InvalidConfiguration(issues: [issue])) }
    run.reload { outcome in outcomes.withLock { $0.append(outcome) } }
    main.turn { outcomes.withLock { $0.count < 2 } }
    let mistake = "/p.ini:3: [pawl] workers: wrong"
    #expect(
      outcomes.withLock { $0 } == [
        ReloadOutcome(isApplied: true), ReloadOutcome(isApplied: false, mistakes: [mistake]),
      ])
    #expect(pawl.events("reload-failed") == ["error reload-failed why=\"\(mistake)\""])
    #expect(pawl.server.configuration.process.drainTimeout == .seconds(9))
    #expect(run.history.generation == 2)
    #expect(run.history.lastReload?.outcome == ReloadOutcome(isApplied: false, mistakes: [mistake]))
    #expect(pawl.stop() == [])
  }

  @Test("the end is a drain, after which the main loop stops")
  func end() throws {
    let run = run { .failure(InvalidConfiguration(issues: [])) }
    #expect(!run.history.isDraining)
    run.end()
    main.runUntilStopped()
    #expect(run.history.isDraining)
    #expect(pawl.events("draining") == ["notice draining timeout=\"10.0 seconds\""])
    #expect(pawl.stop() == [])
  }

  @Test("an upgrade is refused with the reason, and the server goes on")
  func upgrade() throws {
    let reasons = TestLock<[String?]>([])
    run { .failure(InvalidConfiguration(issues: [])) }.upgrade { why in reasons.withLock { $0.append(why) } }
    main.turn { reasons.withLock { $0.isEmpty } }
    #expect(reasons.withLock { $0 } == ["this server is part of another program"])
    #expect(pawl.events("upgrade-refused").count == 1)
    #expect(pawl.ask("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n").status == 200)
    #expect(pawl.stop() == [])
  }
}
