import CLinux
import PawlBase
import PawlConfig
import PawlLoop
import PawlObserve

/// What an operator may ask of the running server: reload, reopen the logs, end, upgrade. Signals and the admin server call it; each
/// method may be called on any thread, and does its work on the main loop.
package final class ServerRun: Sendable {
  let server: Server
  /// The loop of the main thread. It handles signals and performs what is asked here.
  let loop: EventLoop
  private let events: EventLog
  private let drainTimeout: Duration
  /// Reads the configuration again; the mistakes of one that is not valid have been printed.
  private let read: @Sendable () -> Result<Configuration, InvalidConfiguration>
  private let state: LoopBound<State>

  /// What changes while the server runs. Touched on the main loop only.
  private final class State {
    var isEnding = false
    var timer: LoopTimer?
  }

  /// The admin interface, which takes the settings of a reload.
  let admin = Locked<AdminServer?>(nil)
  private let past = Locked(History())

  /// What has become of the configuration and of the process. Any thread.
  struct History: Sendable {
    /// How many configurations have been in force.
    var generation = 1
    var lastReload: ServerPicture.Reload?
    var isDraining = false
  }

  var history: History { past.withLock { $0 } }

  init(
    _ server: Server, loop: EventLoop, read: @escaping @Sendable () -> Result<Configuration, InvalidConfiguration>
  ) {
    (self.server, self.loop, self.read) = (server, loop, read)
    (events, drainTimeout) = (server.events, server.configuration.process.drainTimeout)
    state = LoopBound(State(), on: loop)
  }

  /// Reads the configuration again and applies it.
  /// - Parameter then: called once, on the main loop, with what came of it.
  package func reload(_ then: @escaping @Sendable (ReloadOutcome) -> Void = { _ in }) {
    loop.run { [self] in then(reloadNow()) }
  }

  /// Drains; a second call cuts what is left, as the end of `drain-timeout` does. The server ends when no transfer is left.
  /// - Parameter signal: the signal that asks for it; `nil`: the admin server does.
  package func end(signal: CInt? = nil) { loop.run { [self] in endNow(signal) } }

  /// Opens the log files again, which may have been moved away.
  package func reopenLogs() { loop.run { [self] in server.reopenLogs() } }

  /// Starts a new binary that takes over.
  /// - Parameter then: called once, on the main loop, with the reason why there is no upgrade; `nil`: the new binary serves.
  package func upgrade(_ then: @escaping @Sendable (String?) -> Void = { _ in }) {
    loop.run { [events] in
      let why = "this version cannot hand over to a new binary; restart it"
      events.log(.warning, "upgrade-refused", ["why": why])
      then(why)
    }
  }

  // MARK: - On the main loop

  private func reloadNow() -> ReloadOutcome {
    ServerSignals.notify("RELOADING=1", events)
    defer { ServerSignals.notify("READY=1", events) }
    let outcome: ReloadOutcome
    switch read() {
    case .success(let new):
      outcome = server.reload(new)
      if outcome.isApplied { admin.withLock { $0 }?.reload(new) }
    case .failure(let invalid):
      events.log(.error, "reload-failed", ["why": "the configuration is not valid; the old one stays"])
      outcome = ReloadOutcome(invalid)
    }
    let now = server.services.clock.wallSeconds()
    past.withLock { past in
      if outcome.isApplied { past.generation += 1 }
      past.lastReload = ServerPicture.Reload(at: now, outcome: outcome)
    }
    return outcome
  }

  private func endNow(_ signal: CInt?) {
    let state = state.get()
    guard !state.isEnding else {
      events.log(.notice, "stopping-now", ["signal": signal.map { "\($0)" } ?? "-"])
      return server.cutRemaining()
    }
    state.isEnding = true
    past.withLock { $0.isDraining = true }
    ServerSignals.notify("STOPPING=1", events)
    events.log(.notice, "draining", ["timeout": "\(drainTimeout)"])
    let timer = loop.makeTimer { [server, events] in
      events.log(.warning, "drain-timeout", ["why": "transfers that still run are cut"])
      server.cutRemaining()
    }
    timer.schedule(after: drainTimeout)
    state.timer = timer
    let loop = loop
    server.drain { loop.run { loop.stop() } }
  }
}
