import PawlBase
import PawlConfig
import PawlDisk
import PawlLoop
import PawlObserve

/// Admits client connections up to `max-connections`, and knows the trusted proxies. Shared by all loops.
final class ConnectionAdmission: Sendable {
  let openings: OpeningLog
  private let trusted: [AddressRange]
  /// The most client connections at a time.
  let limit: Int
  private let count = Locked(0)

  /// - Parameter limit: the most client connections of the process (`max-connections`).
  init(limit: Int, trusted: [AddressRange], events: EventLog) {
    (self.limit, self.trusted) = (limit, trusted)
    openings = OpeningLog(events)
  }

  /// Counts one more client connection. Returns `false` at the limit; the connection then has to be closed.
  /// - Parameter failures: the log for connections that are turned away.
  func admit(_ failures: FailureLog) -> Bool {
    let isAdmitted = count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    if !isAdmitted { failures.noteRefused(limit: limit) }
    return isAdmitted
  }

  /// The client connections that are open now.
  var openCount: Int { count.withLock { $0 } }

  func release() { count.withLock { $0 -= 1 } }

  /// Whether the peer is among `trusted-proxies`.
  func isTrusted(_ peer: SocketAddress?) -> Bool {
    guard !trusted.isEmpty, let peer else { return false }
    guard !peer.isUnix else { return trusted.contains(where: \.isUnixSockets) }
    guard let address = NetworkAddress(peer.hostText) else { return false }
    return trusted.contains { $0.contains(address.bytes) }
  }
}
