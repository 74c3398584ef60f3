import PawlBase
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve

/// Admits client connections up to `max-connections`, and knows the trusted proxies. Shared by all loops.
final class ConnectionAdmission: Sendable {
  let openings: OpeningLog
  private struct State {
    var limit: Int
    var trusted: [AddressRange]
    var count = 0
  }
  private let state: Locked<State>

  /// - Parameter limit: the most client connections of the process (`max-connections`).
  init(limit: Int, trusted: [AddressRange], events: EventLog) {
    state = Locked(State(limit: limit, trusted: trusted))
    openings = OpeningLog(events)
  }

  /// The most client connections, and the trusted proxies.
  var settings: (limit: Int, trusted: [AddressRange]) { state.withLock { ($0.limit, $0.trusted) } }

  /// Uses another limit and other proxies for connections from now on. Present connections stay.
  func change(limit: Int, trusted: [AddressRange]) {
    state.withLock { ($0.limit, $0.trusted) = (limit, trusted) }
  }

  /// Counts one more client connection. Returns `false` at the limit; the connection then has to be closed.
  /// - Parameter failures: the log for connections that are turned away.
  func admit(_ failures: FailureLog) -> Bool {
    let refusedAt = state.withLock { state -> Int? in
      guard state.count < state.limit else { return state.limit }
      state.count += 1
      return nil
    }
    if let refusedAt { failures.noteRefused(limit: refusedAt) }
    return refusedAt == nil
  }

  /// The client connections that are open now.
  var openCount: Int { state.withLock { $0.count } }

  func release() { state.withLock { $0.count -= 1 } }

  /// Whether the peer is among `trusted-proxies`.
  func isTrusted(_ peer: SocketAddress?) -> Bool {
    let trusted = settings.trusted
    guard !trusted.isEmpty, let peer else { return false }
    guard !peer.isUnix else { return trusted.contains(where: \.isUnixSockets) }
    guard let address = NetworkAddress(peer.hostText) else { return false }
    return trusted.contains { $0.contains(address.bytes) }
  }
}
