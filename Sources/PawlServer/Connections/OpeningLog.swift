import PawlBase
import PawlLoop
import PawlObserve
import PawlTLS

/// Says why connections did not come to be, or had to end, without a line for each where there are many. Shared by all loops.
final class OpeningLog: Sendable {
  /// What kept a connection from being opened.
  enum Trouble: Hashable, Sendable, CaseIterable {
    /// A PROXY protocol header that is none, or from a peer that may not send one.
    case proxyProtocol
    case handshake
    /// A connection over HTTP/2 that a flood or a breach of the protocol ended.
    case http2

    var event: StaticString {
      switch self {
      case .proxyProtocol: "proxy-protocol-refused"
      case .handshake: "tls-handshake-failed"
      case .http2: "http2-ended"
      }
    }

    /// What a stranger's scanner tries is no fault of the server; what comes by PROXY protocol is one of its set-up.
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

  /// - Parameter why: only asked for when the line is written.
  func note(_ trouble: Trouble, of peer: SocketAddress?, why: @autoclosure () -> String, at now: Monotonic) {
    let level = trouble.level
    guard events.isEnabled(level),
      case .say(let left) = budgets.withLock({ $0[trouble, default: EventBudget()].ask(at: now) })
    else { return }
    let (client, why) = (peer?.hostText ?? "-", why())
    if left == 0 {
      events.log(level, trouble.event, ["client": client, "why": why])
    } else {
      events.log(level, trouble.event, ["client": client, "why": why, "others": "\(left)"])
    }
  }
}
