import CLinux
package import PawlConfig
import PawlLoop
package import PawlObserve

/// Runs a server in the foreground: handles signals, notifies the service manager, and ends the server.
package enum ServerSignals {
  /// Serves until SIGTERM or SIGINT, reloads at SIGHUP, reopens the logs at SIGUSR1. Blocking, on the main thread.
  /// - Parameters:
  ///   - reload: reads the configuration again; `nil` when it is not valid (the mistakes have been printed).
  ///   - ready: prints a line when connections are accepted; called once for each listener.
  package static func serve(
    _ configuration: Configuration, events: EventLog, reload: @escaping () -> Configuration?,
    ready: (String) -> Void
  ) throws(ServerError) {
    let main: EventLoop
    do { main = try EventLoop(index: -1) } catch { throw .system("\(error)") }
    let server = try Server(configuration, events: events)
    let run = Run(server: server, loop: main, configuration: configuration, events: events)
    let watcher: SignalWatcher
    do {
      watcher = try SignalWatcher(main, [SIGTERM, SIGINT, SIGHUP, SIGUSR1]) { signal in
        switch signal {
        case SIGHUP: run.reload(reload)
        case SIGUSR1: server.reopenLogs()
        default: run.end(signal)
        }
      }
    } catch { throw .system("\(error)") }
    // Called only after the signals are watched, because a program that waits for this line may send a signal at once.
    for url in server.urls { ready("Ready: \(url)") }
    notify("READY=1", events)
    main.runUntilStopped()
    watcher.close()
    server.stop()
  }

  static func notify(_ state: String, _ events: EventLog) {
    do throws(LoopError) { _ = try SystemdNotifier.notify(state) } catch {
      events.log(.warning, "notify-failed", ["error": error.description])
    }
  }
}

/// Drains at the first signal; the second, or the drain timeout, cuts what is left.
private final class Run {
  private let server: Server
  private let loop: EventLoop
  private let configuration: Configuration
  private let events: EventLog
  private var isEnding = false
  private var timer: LoopTimer?

  init(server: Server, loop: EventLoop, configuration: Configuration, events: EventLog) {
    (self.server, self.loop, self.configuration, self.events) = (server, loop, configuration, events)
  }

  func reload(_ read: () -> Configuration?) {
    ServerSignals.notify("RELOADING=1", events)
    if let new = read() {
      server.reload(new)
    } else {
      events.log(.error, "reload-failed", ["why": "the configuration is not valid; the old one stays"])
    }
    ServerSignals.notify("READY=1", events)
  }

  func end(_ signal: CInt) {
    guard !isEnding else {
      events.log(.notice, "stopping-now", ["signal": "\(signal)"])
      return server.cutRemaining()
    }
    isEnding = true
    ServerSignals.notify("STOPPING=1", events)
    events.log(.notice, "draining", ["timeout": "\(configuration.process.drainTimeout)"])
    let timer = loop.makeTimer { [server, events] in
      events.log(.warning, "drain-timeout", ["why": "transfers that still run are cut"])
      server.cutRemaining()
    }
    timer.schedule(after: configuration.process.drainTimeout)
    self.timer = timer
    let loop = loop
    server.drain { loop.run { loop.stop() } }
  }
}
