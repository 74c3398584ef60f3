import PawlHTTP
import PawlLoop

@testable import PawlUpstream

/// Writes down what an exchange says, and can answer each event.
final class ExchangeRecorder: OriginExchangeDelegate {
  enum Event: Hashable, CustomStringConvertible {
    case connected
    case interim(Int)
    case head(Int, BodyFraming)
    /// All content between two other events.
    case body(String)
    case ended
    case broke(ProxyError.Kind, beforeHead: Bool, sent: Bool)
    case upgraded(leftover: String)
    case wantsBody

    var description: String {
      switch self {
      case .connected: "connected"
      case .interim(let status): "interim \(status)"
      case .head(let status, let framing): "head \(status) \(framing)"
      case .body(let text): "body \(text.prefix(80))"
      case .ended: "ended"
      case .broke(let kind, let beforeHead, let sent):
        "broke \(kind.rawValue)\(beforeHead ? " before the head" : "")\(sent ? "" : ", nothing sent")"
      case .upgraded(let leftover): "upgraded \(leftover)"
      case .wantsBody: "wants body"
      }
    }
  }

  private(set) var events: [Event] = []
  /// How often what came together was over, and the response was not.
  private(set) var deliveries = 0
  private(set) var body: [UInt8] = []
  private var noted = 0
  private(set) var heads: [ResponseHead] = []
  private(set) var trailers = Fields()
  private(set) var error: ProxyError?
  var details: String? { error?.details }
  private(set) var stream: SocketStream?
  /// Whether content is kept and told; large bodies are only shown to ``observe``.
  var keepsBody = true
  /// Sees each piece of content.
  var observe: (UnsafeRawBufferPointer) -> Void = { _ in }
  /// Called after each event; for content, with each piece.
  var react: (Event, OriginExchange) -> Void = { _, _ in }

  var isOver: Bool {
    switch events.last {
    case .ended, .broke, .upgraded: true
    case .connected, .interim, .head, .body, .wantsBody, nil: false
    }
  }

  /// The events as text, one a line: what a test compares.
  var story: [String] { events.map(\.description) }

  private func note(_ event: Event, _ exchange: OriginExchange) {
    events.append(event)
    noted = body.count
    react(event, exchange)
  }

  func exchangeConnected(_ exchange: OriginExchange) { note(.connected, exchange) }

  func exchange(_ exchange: OriginExchange, interim head: ResponseHead) {
    heads.append(head)
    note(.interim(head.status), exchange)
  }

  func exchange(_ exchange: OriginExchange, head: ResponseHead, framing: BodyFraming) {
    heads.append(head)
    note(.head(head.status, framing), exchange)
  }

  func exchange(_ exchange: OriginExchange, body bytes: UnsafeRawBufferPointer) {
    observe(bytes)
    let piece = Event.body(keepsBody ? String(decoding: bytes, as: UTF8.self) : "")
    if keepsBody {
      body.append(contentsOf: bytes)
      if case .body = events.last { events.removeLast() }
      events.append(.body(String(decoding: body[noted...], as: UTF8.self)))
    }
    react(piece, exchange)
  }

  func exchangeEnded(_ exchange: OriginExchange, trailers: Fields) {
    self.trailers = trailers
    note(.ended, exchange)
  }

  func exchange(_ exchange: OriginExchange, broke failure: OriginFailure) {
    error = failure.error
    note(
      .broke(failure.error.kind, beforeHead: failure.beforeHead, sent: failure.requestBytesSent), exchange)
  }

  func exchange(
    _ exchange: OriginExchange, upgraded stream: SocketStream, head: ResponseHead, leftover: [UInt8]
  ) {
    self.stream = stream
    heads.append(head)
    note(.upgraded(leftover: String(decoding: leftover, as: UTF8.self)), exchange)
  }

  func exchangeDelivered(_ exchange: OriginExchange) { deliveries += 1 }

  func exchangeWantsBody(_ exchange: OriginExchange) { note(.wantsBody, exchange) }
}
