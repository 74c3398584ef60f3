package import PawlLoop

/// Runs the health checks of all nodes of an upstream at each interval. Each upstream has one such object in the process, on one
/// loop.
package final class NodeChecks {
  package let upstream: Upstream
  private let loop: EventLoop
  private let check: NodeCheckSettings
  private var running: [Int: NodeCheck] = [:]
  private lazy var timer: LoopTimer = loop.makeTimer { [weak self] in self?.ask() }

  /// Returns `nil` if the nodes of this upstream are not checked.
  package init?(_ upstream: Upstream, on loop: EventLoop) {
    guard let check = upstream.settings.nodes.check else { return nil }
    (self.upstream, self.loop, self.check) = (upstream, loop, check)
  }

  /// Begins: checks all nodes at once, and then after each interval. Call this on the loop.
  package func start() { ask() }

  package func stop() {
    timer.close()
    for check in running.values { check.cancel() }
    running = [:]
  }

  private func ask() {
    timer.schedule(after: check.interval)
    // A check may take longer than the interval. Until it has ended, its node is not checked again.
    for url in upstream.settings.urls.indices where running[url] == nil {
      let one = NodeCheck(check, of: url, upstream, on: loop) { [weak self] failure in
        guard let self else { return }
        running[url] = nil
        upstream.checked(url, failure: failure)
      }
      running[url] = one
      one.start()
    }
  }
}
