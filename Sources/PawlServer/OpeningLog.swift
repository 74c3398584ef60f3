import PawlLoop
import PawlObserve
import PawlTLS

/// Says why connections did not come to be, without a line for each where there are many. Shared by all loops.
final class OpeningLog: Sendable {
  /// What kept a connection from being opened.
  enum Trouble: Hashable, Sendable, CaseIterable {
    /// A PROXY protocol header that is none, or from a peer that may not send one.
    case proxyProtocol
    case handshake
  }

  private let events: EventLog
  private let budgets = Locked<[Trouble: EventBudget]>([:])

  init(_ events: EventLog) { self.events = events }

  /// - Parameter why: only asked for when the line is written.
  func note(_ trouble: Trouble, of peer: SocketAddress?, why: @autoclosure () -> String, at now: Monotonic) {
    // What a stranger's scanner tries is no fault of the server; what comes by PROXY protocol is one of its set-up.
    let level: LogLevel = trouble == .handshake ? .info : .warning
    guard events.isEnabled(level),
      case .say(let left) = budgets.withLock({ $0[trouble, default: EventBudget()].ask(at: now) })
    else { return }
    let (client, why) = (peer?.hostText ?? "-", why())
    switch (trouble, left) {
    case (.proxyProtocol, 0): events.log(level, "proxy-protocol-refused", ["client": client, "why": why])
    case (.proxyProtocol, _):
      events.log(level, "proxy-protocol-refused", ["client": client, "why": why, "others": "\(left)"])
    case (.handshake, 0): events.log(level, "tls-handshake-failed", ["client": client, "why": why])
    case (.handshake, _):
      events.log(level, "tls-handshake-failed", ["client": client, "why": why, "others": "\(left)"])
    }
  }
}
