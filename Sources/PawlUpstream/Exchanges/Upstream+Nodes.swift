import PawlHTTP
package import PawlLoop

/// The news that a node of an upstream has stopped working, or works again.
package struct NodeNews: Hashable, Sendable {
  /// Index of the node's URL.
  package var url: Int
  package var isUp: Bool
  package var why: String
}

/// The choice of a node, and the reports about it. With a single node there is no choice: only health checks, and connections that
/// cannot be made, are counted, so that the operator is told.
extension Upstream {
  /// Returns the indices of all URLs in the order in which to try them. The request is counted at the first node until
  /// ``leave(_:)``.
  func choose(at now: Monotonic, for target: Bytes, preferring url: Int?) -> [Int] {
    withRotation { rotation in
      let order = rotation.order(at: now, for: target, preferring: url)
      if countsRequests { rotation.begins(at: order[0]) }
      return order
    }
  }

  private var countsRequests: Bool { settings.nodes.balance == .leastConnections }

  /// Moves the count of a request from one node to another.
  func move(from node: Int, to other: Int) {
    guard countsRequests else { return }
    withRotation {
      $0.ended(at: node)
      $0.begins(at: other)
    }
  }

  /// Ends the count of a request at the node where it was last.
  func leave(_ node: Int) { if countsRequests { withRotation { $0.ended(at: node) } } }

  /// Returns ``NodeRotation/mayStandIn(_:for:at:)``, under the lock.
  func mayStandIn(_ other: Int, for node: Int, at now: Monotonic) -> Bool {
    withRotation { $0.mayStandIn(other, for: node, at: now) }
  }

  /// The state of each node, in the order of their URLs.
  package func nodeStates(at now: Monotonic) -> [NodeState] { withRotation { $0.states(at: now) } }

  // MARK: - Reports

  /// Reports that no connection was made, or no response came in time.
  func failed(_ node: Int, _ error: ProxyError, at now: Monotonic) {
    let change = withRotation {
      isWatched.store(1)
      return $0.failed(node, at: now)
    }
    tell(change, of: node) { error.reason }
  }

  /// Reports a final response head, or a 101. Costs one look at a word where a single node is well.
  func answered(_ node: Int, _ status: Int, to target: Bytes, since begun: Monotonic, at now: Monotonic) {
    guard hasSeveralNodes || isWatched.load() != 0 else { return }
    let change = withRotation { rotation in
      defer { if rotation.isWell(node) { isWatched.store(0) } }
      return rotation.answered(node, status: status, to: target, since: begun, at: now)
    }
    tell(change, of: node) { "status \(status)" }
  }

  /// Reports that an exchange has ended without a final response head.
  /// - Parameter isReused: whether its connection was idle before: such a connection may end without any fault of the node.
  func broke(_ node: Int, _ error: ProxyError, for target: Bytes, isReused: Bool, at now: Monotonic) {
    // One slow page says little about a node for which no other could answer.
    guard hasSeveralNodes else { return }
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

  /// Reports the result of a health check; `failure` is the reason if it failed.
  package func checked(_ node: Int, failure: String?) {
    tell(withRotation { $0.checked(node, passed: failure == nil) }, of: node) { failure ?? "its checks pass" }
  }
}

extension ProxyError {
  /// The text for logs.
  var reason: String { kind.rawValue + (details.map { ": \($0)" } ?? "") }
}
