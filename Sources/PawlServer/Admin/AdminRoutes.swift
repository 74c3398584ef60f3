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
  static let all: [AdminRoute] = [
    .get("/healthz", isForAnyone: true) { $0.reply(.text("ok\n")) }
  ]

  /// Returns the routes of a path: one for each kind.
  static func find(_ path: Bytes) -> [AdminRoute] { all.filter { path.elementsEqual($0.path.utf8) } }
}
