import PawlHTTP
import PawlLoop

/// A request to the admin interface: checked, its content read, then given to the handler of its route. Lives on the admin loop.
///
/// The handler answers with ``reply(_:)`` or ``stream(_:_:)``, at once or later; from another thread through ``later``.
final class AdminExchange: Exchange {
  /// The most bytes of a request's content; an order has a few dozen.
  static let mostContent = 64 << 10

  let request: IncomingRequest
  let admin: AdminLoop
  private let channel: any ResponseChannel
  /// The client's connection, which is proven once a request of an operator has come over it.
  private weak var connection: (any ServedConnection)?
  /// The content of the request, complete when the handler is called.
  private(set) var content: [UInt8] = []
  /// Whether the client may see and change everything; `false`: it has proved nothing, and the route is for anyone.
  private(set) var isOperator = false
  private var route: AdminRoute?
  private var isOver = false

  init(
    _ request: IncomingRequest, channel: any ResponseChannel, admin: AdminLoop,
    connection: (any ServedConnection)? = nil
  ) {
    (self.request, self.channel, self.admin, self.connection) = (request, channel, admin, connection)
  }

  var services: LoopServices { admin.services }
  var actions: any AdminActions { admin.actions }
  var now: Monotonic { services.loop.now }
  /// The wall clock, seconds since 1970.
  var wall: Int64 { services.loop.wallSeconds }
  var health: AdminHealth { AdminHealth(actions.picture(), now: now, wall: wall) }

  // MARK: - The request

  func start() {
    let path = RequestTarget.path(of: request.head.target)
    let found = AdminRoutes.find(path)
    let verdict = admin.guardian.verdict(on: request, isForAnyone: found.contains { $0.isForAnyone })
    switch verdict {
    case .refused(let reply, let why):
      admin.note(refused: request, why)
      return refuse(reply)
    case .passes(let isOperator):
      self.isOperator = isOperator
      if isOperator, let connection { admin.clients.prove(connection) }
    }
    guard let first = found.first else {
      return refuse(.problem(404, "There is no \(path.text); see Config/admin.md."))
    }
    guard let route = found.first(where: { $0.takes(request.head.method) }) else {
      return refuse(
        .problem(405, "\(path.text) takes \(first.allowed) only.").with(
          "Allow", found.map(\.allowed).joined(separator: ", ")))
    }
    self.route = route
    if request.head.framing == .none { route.answer(self) }
  }

  private func refuse(_ reply: AdminReply) {
    channel.drainRequestBody()
    self.reply(reply)
  }

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard !isOver, route != nil else { return true }
    guard content.count + bytes.count <= Self.mostContent else {
      route = nil
      refuse(.problem(413, "The content is longer than \(Self.mostContent) bytes."))
      return true
    }
    content.append(contentsOf: bytes)
    return true
  }

  func requestBodyEnded(_ trailers: Fields) {
    guard !isOver else { return }
    route?.answer(self)
  }

  // MARK: - The answer

  func reply(_ reply: AdminReply) {
    guard !isOver, !channel.hasResponded else { return }
    channel.respond(reply.head, length: .known(UInt64(reply.content.count)), body: MemoryBody(reply.content))
  }

  /// Sends a response whose content comes piece by piece, an event stream for instance.
  func stream(_ mediaType: String, _ body: any BodySource) {
    guard !isOver, !channel.hasResponded else { return body.finish() }
    channel.respond(AdminReply(mediaType, []).head, length: .unknown, body: body)
  }

  /// The way to answer from another thread. If the client has left by then, nothing happens.
  var later: AdminPromise { AdminPromise(self) }

  /// Answers with what `work` returns. The work is done on a thread of the pool, since it reads disks.
  func answer(_ work: @escaping @Sendable () -> AdminReply) {
    let isTaken = services.pool.run(work, then: services.loop) { [weak self] reply in self?.reply(reply) }
    if !isTaken { reply(.problem(503, "pawl is ending.")) }
  }

  func clientLeft() { isOver = true }
  func responseSent() { isOver = true }
}

/// Answers a request of the admin interface from any thread.
struct AdminPromise: Sendable {
  private let exchange: LoopWeak<AdminExchange>

  init(_ exchange: AdminExchange) { self.exchange = LoopWeak(exchange, on: exchange.services.loop) }

  func reply(_ reply: AdminReply) { exchange.run { $0.reply(reply) } }
}
