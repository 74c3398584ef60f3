import PawlBase
import PawlLoop
import PawlObserve

/// `/v1/log-level`: the level of the events, which can be changed until the next reload, or for a time. Lives on the admin loop.
final class AdminLogLevel {
  /// The longest time for which a level is changed: a week.
  static let longest: UInt64 = 7 * 86_400

  private let events: EventLog
  private let loop: EventLoop
  private lazy var timer = loop.makeTimer { [unowned self] in goBack() }
  /// The level that comes back, and when (seconds since 1970).
  private var former: (level: LogLevel, at: Int64)?

  init(_ events: EventLog, loop: EventLoop) { (self.events, self.loop) = (events, loop) }

  /// Forgets the level that was to come back: a reload has set another one.
  func forget() {
    former = nil
    timer.cancel()
  }

  private func goBack() {
    guard let former else { return }
    self.former = nil
    events.level = former.level
    events.log(.notice, "log-level-changed", ["level": former.level.word.description, "why": "the time is over"])
  }

  /// Changes the level. Without a time, it stays until the next reload.
  private func change(to level: LogLevel, for seconds: UInt64?, wall: Int64) {
    let before = former?.level ?? events.level
    forget()
    events.level = level
    guard let seconds else { return }
    former = (before, wall + Int64(seconds))
    timer.schedule(after: .seconds(Int64(seconds)))
  }

  private var reply: AdminReply {
    AdminReply.object {
      $0.member("level", events.level.word.description)
      $0.member("until", former?.at)
      $0.member("then", former?.level.word.description)
    }
  }

  static func get(_ exchange: AdminExchange) { exchange.reply(exchange.admin.logLevel.reply) }

  static func set(_ exchange: AdminExchange) {
    let words = LogLevel.allCases.map(\.word.description)
    guard let order = AdminOrder(exchange.content), let level = order.text("level").flatMap({ LogLevel($0) }),
      !order.names.contains(where: { !["level", "seconds"].contains($0) })
    else {
      return exchange.reply(
        .problem(400, "Expected {\"level\":…} with one of \(words.joined(separator: ", ")), and perhaps \"seconds\"."))
    }
    let seconds = order.number("seconds")
    if order.names.contains("seconds"), !(1...longest).contains(seconds ?? 0) {
      return exchange.reply(.problem(400, "seconds is a whole number from 1 to \(longest)."))
    }
    let logLevel = exchange.admin.logLevel
    logLevel.change(to: level, for: seconds, wall: exchange.wall)
    exchange.services.events.log(
      .notice, "log-level-changed",
      ["level": level.word.description, "why": "asked by \(exchange.request.clientAddress.text)"])
    exchange.reply(logLevel.reply)
  }
}
