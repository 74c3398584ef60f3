import CLinux
package import PawlConfig
import PawlLoop
package import PawlObserve
import PawlUploadStore

/// Runs a server in the foreground: handles signals, notifies the service manager, and ends the server.
package enum ServerSignals {
  /// Serves until SIGTERM, SIGQUIT or SIGINT. SIGHUP reloads, SIGUSR1 reopens the logs, SIGUSR2 upgrades. Blocking, on the main
  /// thread.
  /// - Parameters:
  ///   - arguments: the program and its arguments, by which an upgrade starts it anew; empty: there is no upgrade.
  ///   - reload: reads the configuration again.
  ///   - ready: prints a line when connections are accepted; called once for each listener.
  package static func serve(
    _ configuration: Configuration, arguments: [String] = [], events: EventLog,
    reload: @escaping @Sendable () -> Result<Configuration, InvalidConfiguration>,
    ready: (String) -> Void
  ) throws(ServerError) {
    reapIfFirst()
    let main: EventLoop
    do { main = try EventLoop(index: -1) } catch { throw .system("\(error)") }
    // These are watched from the first moment, because the kernel would end a process that does not watch them. They are answered once
    // the server serves. SIGTERM and SIGINT end a server that still starts at once.
    var run: ServerRun?
    let early = try watch(main, [SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2]) { signal in
      switch signal {
      case SIGHUP: run?.reload()
      case SIGUSR1: run?.reopenLogs()
      case SIGUSR2: run?.upgrade()
      default: run?.end(signal: signal)
      }
    }
    let predecessor = Predecessor.fromEnvironment()
    let server = try telling(predecessor) { () throws(ServerError) in
      try Server(configuration, events: events, inherited: .fromEnvironment()) { () throws(ServerError) in
        try lent(by: predecessor)
      }
    }
    let made = ServerRun(server, loop: main, arguments: arguments, predecessor: predecessor, read: reload)
    run = made
    let admin = try telling(predecessor) { () throws(ServerError) in
      try AdminServer(configuration, server.services, actions: AdminGate(made), isSuccessor: predecessor != nil)
    }
    made.admin.withLock { $0 = admin }
    let ending = try watch(main, [SIGTERM, SIGINT]) { signal in run?.end(signal: signal) }
    StartReport.write(of: server)
    // Called only after the signals are watched, because a program that waits for this line may send a signal at once.
    for url in server.urls { ready("Ready: \(url)") }
    // The old process is still the one that the service manager listens to; it names this one.
    if let predecessor {
      predecessor.saysServing()
      server.borrow(from: predecessor, on: main)
    } else {
      notify("READY=1", events)
    }
    run?.startPulse()
    main.runUntilStopped()
    admin.stop()
    made.admin.withLock { $0 = nil }
    server.stop()
    early.close()
    ending.close()
    // So that the service manager starts it again.
    if let why = made.history.failure { throw .system(why) }
  }

  /// Does what may fail before this process serves, and tells the process before it why it fails.
  private static func telling<R>(
    _ predecessor: Predecessor?, _ work: () throws(ServerError) -> R
  ) throws(ServerError) -> R {
    do throws(ServerError) { return try work() } catch {
      predecessor?.saysFailed(error.description)
      throw error
    }
  }

  /// Waits until the stores may be opened, and returns the uploads that the process before this one still delivers.
  private static func lent(by predecessor: Predecessor?) throws(ServerError) -> Set<UploadID> {
    do throws(LoopError) {
      guard let bytes = try predecessor?.awaitStores() else { return [] }
      // The old process opens its stores again when this one ends.
      guard let list = LentMessage.list(bytes) else { throw .system(call: "list of deliveries", code: EPROTO) }
      return list
    } catch { throw .system("the process before this one: \(error)") }
  }

  /// As process 1 of a container, pawl is the parent of processes whose own parent has ended, such as those of a health check that took
  /// too long. The kernel removes them when they end.
  private static func reapIfFirst() {
    if getpid() == 1 { _ = pawl_ignore_signal(SIGCHLD) }
  }

  private static func watch(
    _ loop: EventLoop, _ signals: [CInt], handler: @escaping (CInt) -> Void
  ) throws(ServerError) -> SignalWatcher {
    do { return try SignalWatcher(loop, signals, handler: handler) } catch { throw .system("\(error)") }
  }

  static func notify(_ state: String, _ events: EventLog) {
    do throws(LoopError) { _ = try SystemdNotifier.notify(state) } catch {
      events.log(.warning, "notify-failed", ["error": error.description])
    }
  }
}
