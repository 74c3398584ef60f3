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
  private var drainTimeout: Duration { server.configuration.process.drainTimeout }
  /// The program and its arguments, to start it anew; empty if that is not possible.
  private let arguments: [String]
  /// Reads the configuration again.
  private let read: @Sendable () -> Result<Configuration, InvalidConfiguration>
  private let state: LoopBound<State>

  /// What changes while the server runs. Touched on the main loop only.
  private final class State {
    var isEnding = false
    var isUpgrading = false
    /// The end that was asked for during an upgrade.
    var wantsEnd = false
    /// Whether a new binary has taken over.
    var isReplaced = false
    var timer: LoopTimer?
    var pulse: LoopPulse?
  }

  /// The admin interface, which takes the settings of a reload.
  let admin = Locked<AdminServer?>(nil)
  private let past = Locked(History())
  /// The process before this one, which may still drain.
  let predecessor: Predecessor?

  /// What has become of the configuration and of the process. Any thread.
  struct History: Sendable {
    /// How many configurations have been in force.
    var generation = 1
    var lastReload: ServerPicture.Reload?
    var isDraining = false
    /// Why the process ends, if nobody has asked it to.
    var failure: String?
  }

  var history: History { past.withLock { $0 } }

  init(
    _ server: Server, loop: EventLoop, arguments: [String] = [], predecessor: Predecessor? = nil,
    read: @escaping @Sendable () -> Result<Configuration, InvalidConfiguration>
  ) {
    (self.server, self.loop, self.arguments, self.read) = (server, loop, arguments, read)
    self.predecessor = predecessor
    events = server.events
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
  /// - Parameter then: called once, on any thread, with the reasons why files could not be opened.
  package func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void = { _ in }) {
    loop.run { [self] in server.reopenLogs(then) }
  }

  /// Starts a new binary that takes over.
  /// - Parameter then: called once, on the main loop, with the reason why there is no upgrade; `nil`: the new binary serves.
  package func upgrade(_ then: @escaping @Sendable (String?) -> Void = { _ in }) {
    loop.run { [self] in
      if let why = refusesUpgrade() {
        events.log(.warning, "upgrade-refused", ["why": why])
        return then(why)
      }
      state.get().isUpgrading = true
      events.log(.notice, "upgrading", ["program": arguments.first ?? "-"])
      let upgrade = ServerUpgrade(server: server, arguments: arguments, deliveryTime: drainTimeout, loop: loop)
      do throws(LoopError) {
        _ = try LoopThread(name: "pawl-upgrade") { [self] in
          let outcome = upgrade.perform()
          loop.run { [self] in upgraded(outcome, then) }
        }
      } catch { upgraded(.failed("\(error)"), then) }
    }
  }

  // MARK: - On the main loop

  /// Begins to tell the service manager at intervals that the loops turn, and what they do. Called once, on the main loop.
  func startPulse() {
    let pulse = LoopPulse(server, on: loop)
    state.get().pulse = pulse
    pulse?.start()
  }

  /// Returns why there can be no upgrade now; `nil`: there can.
  private func refusesUpgrade() -> String? {
    if arguments.isEmpty { return "this server is part of another program" }
    if state.get().isEnding { return "pawl is ending" }
    if state.get().isUpgrading { return "an upgrade runs already" }
    if getpid() == 1 { return "pawl is process 1 of a container, which ends with it: restart the container" }
    // A file that only the new binary understands is judged by it alone.
    guard case .success(let new) = read() else { return nil }
    return UpgradeRefusal.reason(from: server.configuration, to: new)
  }

  private func upgraded(_ outcome: ServerUpgrade.Outcome, _ then: (String?) -> Void) {
    let state = state.get()
    state.isUpgrading = false
    switch outcome {
    case .serves(let pid, let gap):
      events.log(.notice, "upgraded", ["pid": "\(pid)", "gap-ms": "\(Int64(gap / .milliseconds(1)))"])
      ServerSignals.notify("MAINPID=\(pid)\nREADY=1", events)
      then(nil)
      admin.withLock { $0 }?.closeListeners()
      state.isReplaced = true
      // The end that was asked for is that of the service.
      if state.wantsEnd { kill(pid, SIGTERM) }
      endNow(nil)
    case .failed(let why):
      events.log(.error, "upgrade-failed", ["why": why])
      then(why)
      if state.wantsEnd { endNow(nil) }
    case .lost(let why):
      events.log(.error, "upgrade-failed", ["why": why])
      then(why)
      past.withLock { $0.failure = why }
      endNow(nil)
    }
  }

  private func reloadNow() -> ReloadOutcome {
    if state.get().isUpgrading {
      let outcome = ReloadOutcome(isApplied: false, mistakes: ["a new binary is taking over"])
      outcome.log(to: events)
      return outcome
    }
    ServerSignals.notify(SystemdNotifier.reloading(), events)
    defer { ServerSignals.notify("READY=1", events) }
    let now = server.services.clock.wallSeconds()
    let outcome: ReloadOutcome
    switch read() {
    case .success(let new):
      outcome = server.reload(new)
      if outcome.isApplied { admin.withLock { $0 }?.reload(new) }
    case .failure(let invalid):
      outcome = ReloadOutcome(invalid)
      outcome.log(to: events)
      server.services.reloads.note(isApplied: false, at: now)
    }
    past.withLock { past in
      if outcome.isApplied { past.generation += 1 }
      past.lastReload = ServerPicture.Reload(at: now, outcome: outcome)
    }
    return outcome
  }

  private func endNow(_ signal: CInt?) {
    let state = state.get()
    if state.isUpgrading {
      state.wantsEnd = true
      return
    }
    guard !state.isEnding else {
      events.log(.notice, "stopping-now", ["signal": signal.map { "\($0)" } ?? "-"])
      return server.cutRemaining()
    }
    state.isEnding = true
    past.withLock { $0.isDraining = true }
    state.pulse?.isDraining = true
    // Messages of a process that is not the main one any more would confuse systemd.
    if state.isReplaced { state.pulse = nil } else { ServerSignals.notify("STOPPING=1", events) }
    let timeout = state.isReplaced ? server.configuration.process.upgradeTimeout : drainTimeout
    events.log(.notice, "draining", ["timeout": "\(timeout)"])
    let timer = loop.makeTimer { [server, events] in
      events.log(.warning, "drain-timeout", ["why": "transfers that still run are cut"])
      server.cutRemaining()
    }
    timer.schedule(after: timeout)
    state.timer = timer
    let loop = loop
    server.drain { loop.run { loop.stop() } }
  }
}
