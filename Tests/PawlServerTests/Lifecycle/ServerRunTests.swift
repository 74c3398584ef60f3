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

  private func run(_ read: @escaping @Sendable () -> Configuration?) -> ServerRun {
    ServerRun(pawl.server, loop: main) {
      read().map { .success($0) }
        ?? .failure(InvalidConfiguration(issues: [PawlConfig.Issue(at: .file(path: "/f", line: 2), "no")]))
    }
  }

  @Test("a reload says whether the new configuration is in use")
  func reload() throws {
    let valid = TestLock<Configuration?>(try TestServer.configuration(url: "http://127.0.0.1:2", in: pawl.folder))
    let outcomes = TestLock<[Bool]>([])
    let run = run { valid.withLock { $0 } }
    run.reload { outcome in outcomes.withLock { $0.append(outcome.isApplied) } }
    main.turn { outcomes.withLock { $0.isEmpty } }
    valid.withLock { $0 = nil }
    run.reload { outcome in outcomes.withLock { $0.append(outcome.isApplied) } }
    main.turn { outcomes.withLock { $0.count < 2 } }
    #expect(outcomes.withLock { $0 } == [true, false])
    #expect(run.history.generation == 2)
    #expect(run.history.lastReload?.outcome == ReloadOutcome(isApplied: false, mistakes: ["/f:2: no"]))
    #expect(pawl.stop() == [])
  }

  @Test("the end is a drain, after which the main loop stops")
  func end() throws {
    let run = run { nil }
    #expect(!run.history.isDraining)
    run.end()
    main.runUntilStopped()
    #expect(run.history.isDraining)
    #expect(pawl.events("draining") == ["notice draining timeout=\"30.0 seconds\""])
    #expect(pawl.stop() == [])
  }

  @Test("an upgrade is refused with the reason, and the server goes on")
  func upgrade() throws {
    let reasons = TestLock<[String?]>([])
    run { nil }.upgrade { why in reasons.withLock { $0.append(why) } }
    main.turn { reasons.withLock { $0.isEmpty } }
    #expect(reasons.withLock { $0 } == ["this server is part of another program"])
    #expect(pawl.events("upgrade-refused").count == 1)
    #expect(pawl.ask("OPTIONS * HTTP/1.1\r\nHost: site\r\n\r\n").status == 200)
    #expect(pawl.stop() == [])
  }
}
