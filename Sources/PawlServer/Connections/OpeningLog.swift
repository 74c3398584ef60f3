import PawlBase
import PawlLoop
import PawlObserve
import PawlTLS

/// Logs why connections could not be opened or had to end; limits the number of lines. Shared by all loops.
final class OpeningLog: Sendable {
  /// The reason for which a connection was not opened or had to end.
  enum Trouble: Hashable, Sendable, CaseIterable {
    /// The PROXY protocol's header is malformed, missing, or from a peer that is not among `trusted-proxies`.
    case proxyProtocol
    case handshake
    /// A flood or a protocol error ended a connection of HTTP/2.
    case http2

    var event: StaticString {
      switch self {
      case .proxyProtocol: "proxy-protocol-refused"
      case .handshake: "tls-handshake-failed"
      case .http2: "http2-ended"
      }
    }

    /// The level of the log line. Failed handshakes come from scanners and are not the operator's concern; a refused PROXY header
    /// is a fault in the set-up.
    var level: LogLevel {
      switch self {
      case .proxyProtocol: .warning
      case .handshake: .info
      case .http2: .notice
      }
    }
  }

  private let events: EventLog
  private let budgets = Locked<[Trouble: EventBudget]>([:])

  init(_ events: EventLog) { self.events = events }

  /// - Parameter why: evaluated only when the line is written.
  func note(_ trouble: Trouble, of peer: SocketAddress?, why: @autoclosure () -> String, at now: Monotonic) {
    let level = trouble.level
    guard events.isEnabled(level),
      case .say(let left) = budgets.withLock({ $0[trouble, default: EventBudget()].ask(at: now) })
    else { return }
    let (client, why) = (peer?.hostText ?? "-", why())
    if left == 0 {
      events.log(level, trouble.event, ["client": client, "why": why])
    } else {
      events.log(level, trouble.event, ["client": client, "why": why, "omitted": "\(left)"])
    }
  }
}
