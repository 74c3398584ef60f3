import PawlHTTP
import PawlLoop

/// A node of an upstream was found to work no more, or to work again.
package struct NodeNews: Hashable, Sendable {
  /// Index of its URL.
  package var url: Int
  package var isUp: Bool
  package var why: String
}

/// Which node is asked, and what its answers say of it. Where there is one, nobody chooses, and nothing is kept.
extension Upstream {
  /// Indices of all URLs, the one to try first in front; a request begins there, until ``leave(_:)``.
  func choose(at now: Monotonic, for target: Bytes, preferring url: Int?) -> [Int] {
    withRotation { rotation in
      let order = rotation.order(at: now, for: target, preferring: url)
      if countsRequests { rotation.begins(at: order[0]) }
      return order
    }
  }

  private var countsRequests: Bool { settings.nodes.balance == .leastConnections }

  /// A request that was chosen for one goes to another.
  func move(from node: Int, to other: Int) {
    guard countsRequests else { return }
    withRotation {
      $0.ended(at: node)
      $0.begins(at: other)
    }
  }

  /// A request has ended, wherever it was.
  func leave(_ node: Int) { if countsRequests { withRotation { $0.ended(at: node) } } }

  /// ``NodeRotation/mayStandIn(_:for:at:)``
  func mayStandIn(_ other: Int, for node: Int, at now: Monotonic) -> Bool {
    withRotation { $0.mayStandIn(other, for: node, at: now) }
  }

  // MARK: - What becomes known

  /// No connection came about, or no answer in time.
  func failed(_ node: Int, _ error: ProxyError, at now: Monotonic) {
    guard hasSeveralNodes else { return }
    tell(withRotation { $0.failed(node, at: now) }, of: node) { error.reason }
  }

  /// The final head is here, or a 101.
  func answered(_ node: Int, _ status: Int, to target: Bytes, since begun: Monotonic, at now: Monotonic) {
    let change = withRotation { $0.answered(node, status: status, to: target, since: begun, at: now) }
    tell(change, of: node) { "status \(status)" }
  }

  /// An exchange has ended without a final head.
  /// - Parameter isReused: its connection was idle before: it may have ended without any fault of the node.
  func broke(_ node: Int, _ error: ProxyError, for target: Bytes, isReused: Bool, at now: Monotonic) {
    switch error.kind {
    case .httpResponseTimeout, .connectionReadTimeout, .connectionWriteTimeout, .tlsProtocolError, .tlsCertificateError,
      .tlsAlertReceived:
      failed(node, error, at: now)
    case .connectionTerminated, .httpResponseIncomplete, .httpProtocolError:
      guard !isReused else { return }
      tell(withRotation { $0.erred(node, for: target, at: now) }, of: node) { error.reason }
    default: break
    }
  }

  /// A check has passed, or failed for this reason.
  func checked(_ node: Int, failure: String?) {
    tell(withRotation { $0.checked(node, passed: failure == nil) }, of: node) { failure ?? "its checks pass" }
  }
}

extension ProxyError {
  /// For logs.
  var reason: String { kind.rawValue + (details.map { ": \($0)" } ?? "") }
}
