import PawlHTTP

/// One path of the admin interface with one method.
struct AdminRoute: Sendable {
  enum Kind: Sendable { case asks, changes }

  let path: String
  /// Whether it is asked with GET (and HEAD), or changes something with POST.
  let kind: Kind
  /// Whether the client needs no token: only what a probe of a load balancer asks.
  let isForAnyone: Bool
  /// Answers the request, on the admin loop, at once or later.
  let answer: @Sendable (AdminExchange) -> Void

  static func get(
    _ path: String, isForAnyone: Bool = false, _ answer: @escaping @Sendable (AdminExchange) -> Void
  ) -> AdminRoute {
    AdminRoute(path: path, kind: .asks, isForAnyone: isForAnyone, answer: answer)
  }

  static func post(_ path: String, _ answer: @escaping @Sendable (AdminExchange) -> Void) -> AdminRoute {
    AdminRoute(path: path, kind: .changes, isForAnyone: false, answer: answer)
  }

  func takes(_ method: Method) -> Bool {
    switch kind {
    case .asks: method.isRetrieval
    case .changes: method == .post
    }
  }

  /// The methods as `Allow` lists them.
  var allowed: String { kind == .asks ? "GET, HEAD" : "POST" }
}

/// The table of everything that the admin interface can be asked. `Config/admin.md` has the same rows.
enum AdminRoutes {
  static let all: [AdminRoute] = probes + questions + AdminMetrics.routes + orders

  private static let probes: [AdminRoute] = [
    .get("/healthz", isForAnyone: true) { $0.reply(.text("ok\n")) },
    .get("/readyz", isForAnyone: true) { exchange in
      exchange.reply(exchange.health.reply(isFull: exchange.isOperator))
    },
    .get("/readyz/uploads", isForAnyone: true) { exchange in
      let (picture, isFull) = (exchange.actions.picture(), exchange.isOperator)
      exchange.answer { UploadReadiness.reply(picture, isFull: isFull) }
    },
  ]

  private static let questions: [AdminRoute] =
    [
      .get("/v1/status") { exchange in
        let status = AdminStatus(picture: exchange.actions.picture(), now: exchange.now, wall: exchange.wall)
        exchange.reply(status.reply)
      }
    ]
    + both("cache") { $0.reply(AdminStatus.caches($0.actions.picture())) }
    + both("config") { $0.reply(AdminConfiguration.reply($0.actions.picture())) }
    + both("uploads") { exchange in
      guard let page = AdminUploads.Page(AdminQuery(exchange.request.head.target)) else {
        return exchange.reply(.problem(400, "state is a state of uploads; limit is a number from 1 on."))
      }
      let paths = exchange.actions.picture().spools.map(\.settings.path).sorted()
      exchange.answer { AdminUploads.reply(paths, page) }
    }

  private static let orders: [AdminRoute] = [
    .post("/v1/reload", AdminOrders.reload), .post("/v1/stop", AdminOrders.stop),
    .post("/v1/upgrade", AdminOrders.upgrade), .post("/v1/reopen-logs", AdminOrders.reopenLogs),
    .get("/v1/log-level", AdminLogLevel.get), .post("/v1/log-level", AdminLogLevel.set),
  ]

  /// A question with two names: by its version, and short.
  private static func both(_ name: String, _ answer: @escaping @Sendable (AdminExchange) -> Void) -> [AdminRoute] {
    [.get("/v1/\(name)", answer), .get("/\(name)", answer)]
  }

  /// Returns the routes of a path: one for each kind.
  static func find(_ path: Bytes) -> [AdminRoute] { all.filter { path.elementsEqual($0.path.utf8) } }
}
