import PawlDisk
import PawlHTTP
import PawlLoop
import PawlObserve
import PawlUpstream

/// Logs why requests to the nodes of one upstream fail, and what is done about it: each kind of failure of each node at most once
/// a minute. Any thread.
final class OriginFailureLog: Sendable {
  private let upstream: String
  /// The URLs of the nodes, without credentials.
  private let nodes: [String]
  private let log: FailureLog
  private let handshakes: FailureLog

  /// - Parameter nodes: the URLs of the nodes.
  init(upstream: String, nodes: [String] = [], events: EventLog, clock: any LoopClock) {
    (self.upstream, self.nodes) = (upstream, nodes)
    log = FailureLog(events: events, clock: clock)
    handshakes = FailureLog(events: events, clock: clock)
  }

  /// Logs a TLS handshake that failed: each reason at most once a minute.
  func note(_ error: ProxyError) {
    let why = error.details ?? ""
    guard handshakes.due(why) != nil else { return }
    log.events.log(.warning, "origin-tls-failed", ["upstream": upstream, "error": error.kind.rawValue, "why": why])
  }

  /// Logs a failure. An origin may close an idle connection at any time; that is no failure, so its level is `debug`.
  func note(_ trouble: OriginTrouble) {
    let (kind, node) = (trouble.kind.rawValue, node(trouble.url))
    log.log(
      trouble.isOfIdle ? .debug : .warning, "upstream-failed", of: "\(kind) \(node)\(trouble.isOfIdle ? " idle" : "")",
      [
        "upstream": upstream, "node": node, "kind": kind, "why": trouble.error.details ?? trouble.error.kind.rawValue,
        "request": trouble.requestID.isEmpty ? "-" : String(decoding: trouble.requestID, as: UTF8.self),
        "next": trouble.next.text,
      ])
  }

  /// Logs that a node answers with server errors only, and that this has ended.
  func note(_ news: ServerErrorNews) {
    let node = node(news.url)
    if news.isOver {
      log.events.log(
        .notice, "upstream-errors-ended", ["upstream": upstream, "node": node, "count": "\(news.count)"])
    } else {
      log.events.log(
        .warning, "upstream-errors",
        ["upstream": upstream, "node": node, "count": "\(news.count)", "status": "\(news.status)"])
    }
  }

  private func node(_ index: Int) -> String { nodes.indices.contains(index) ? nodes[index] : "-" }
}
