import PawlBase
import PawlConfig
import PawlLoop
import PawlObserve

/// What the admin interface asks of the server, and has it do. Any thread.
final class AdminGate: AdminActions {
  private let run: ServerRun
  private let startedAt: Int64

  init(_ run: ServerRun) {
    self.run = run
    startedAt = run.server.services.clock.wallSeconds()
  }

  func picture() -> ServerPicture {
    var picture = run.server.picture(startedAt: startedAt)
    let history = run.history
    (picture.generation, picture.lastReload) = (history.generation, history.lastReload)
    picture.isDraining = history.isDraining
    picture.stillDraining = (run.predecessor?.drainingProcess).map { [$0] } ?? []
    return picture
  }

  func reload(_ then: @escaping @Sendable (ReloadOutcome) -> Void) { run.reload(then) }

  func end(isNow: Bool) {
    run.end()
    if isNow { run.end() }
  }

  func upgrade(_ then: @escaping @Sendable (String?) -> Void) { run.upgrade(then) }
  func reopenLogs(_ then: @escaping @Sendable ([String]) -> Void) { run.reopenLogs(then) }
  func metrics() -> MetricsSnapshot { run.server.metrics() }
  var transferSources: [TransferSource] { run.server.transferSources }
}
