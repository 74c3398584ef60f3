import PawlBase
import PawlObserve

/// What the admin interface changes: reload, stop, upgrade, logs. Each order is logged with who gave it.
enum AdminOrders {
  /// Returns the order in the content, or answers that there is none.
  private static func order(_ exchange: AdminExchange, _ names: String...) -> AdminOrder? {
    guard let order = AdminOrder(exchange.content) else {
      exchange.reply(.problem(400, "The content has to be a JSON object, or nothing."))
      return nil
    }
    for name in order.names where !names.contains(name) {
      exchange.reply(
        .problem(
          400,
          "There is no member \"\(name)\"; \(names.isEmpty ? "the order has none" : "there is \(names.joined(separator: ", "))")."
        ))
      return nil
    }
    return order
  }

  private static func note(_ exchange: AdminExchange, _ what: String) {
    exchange.services.events.log(
      .notice, "admin-order", ["order": what, "client": exchange.request.clientAddress.text])
  }

  /// Reloads, and answers with the outcome: 200, or 422 with the mistakes.
  static func reload(_ exchange: AdminExchange) {
    guard order(exchange) != nil else { return }
    note(exchange, "reload")
    let (later, file) = (exchange.later, exchange.actions.picture().configuration.file)
    exchange.actions.reload { outcome in
      later.reply(
        .object(status: outcome.isApplied ? 200 : 422) {
          outcome.write(to: &$0)
          $0.member("file", file)
        })
    }
  }

  /// Begins the end. The answer comes before it.
  static func stop(_ exchange: AdminExchange) {
    guard let order = order(exchange, "now") else { return }
    let isNow = order.isSet("now")
    note(exchange, isNow ? "stop now" : "stop")
    let timeout = exchange.actions.picture().configuration.process.drainTimeout
    exchange.reply(
      .object(status: 202) {
        $0.member("draining", true)
        $0.member("drain_timeout", isNow ? 0 : timeout.components.seconds)
      })
    exchange.actions.end(isNow: isNow)
  }

  static func upgrade(_ exchange: AdminExchange) {
    guard order(exchange) != nil else { return }
    note(exchange, "upgrade")
    let later = exchange.later
    exchange.actions.upgrade { why in
      if let why { later.reply(.problem(409, why)) } else { later.reply(.object { $0.member("upgraded", true) }) }
    }
  }

  static func reopenLogs(_ exchange: AdminExchange) {
    guard order(exchange) != nil else { return }
    note(exchange, "reopen-logs")
    let later = exchange.later
    exchange.actions.reopenLogs { failures in
      guard failures.isEmpty else {
        let why = "\(failures.joined(separator: "; ")); lines go on to the file that was open before"
        return later.reply(.problem(500, why))
      }
      later.reply(.object { $0.member("reopened", true) })
    }
  }
}
