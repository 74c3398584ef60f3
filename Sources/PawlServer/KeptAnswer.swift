import PawlCache
import PawlHTTP
import PawlStore
import PawlWire

/// The answer to a POST that says it is what a GET of the same URL would be given (RFC 9110 §9.3.3): it passes to the client
/// as it is, and is kept for those who GET it. Small ones only: there is no fill that could bring the rest of it.
struct KeptAnswer {
  /// The longest content kept, in bytes.
  static let limit: UInt64 = 1 << 20

  private let request: IncomingRequest
  private let store: CacheStore
  private let head: StoredHead
  private let answer: ResponseHead
  private let length: UInt64
  private var content: [UInt8] = []

  /// `nil` for an answer that nobody else may have.
  /// - Parameter requestTime: when the request was sent; wall clock, seconds since 1970.
  init?(to request: IncomingRequest, _ answer: ResponseHead, _ framing: BodyFraming, requestTime: Int64) {
    let now = request.loop.loop.wallSeconds
    guard request.head.method == .post, let store = request.route.cache, case .length(let length) = framing,
      length <= Self.limit
    else { return nil }
    let storability = Storability.decide(
      request: request.head, response: answer, framing: framing, policy: request.route.policy, receivedAt: now)
    guard storability == .shared || storability == .sharedPerCookie else { return nil }
    (self.request, self.store, self.answer, self.length) = (request, store, answer, length)
    // The origin saw the client's own Accept-Encoding.
    head = StoredHead(
      request: request.head, response: answer, requestTime: requestTime, responseTime: now, storability: storability,
      asksIdentity: false)
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) { content.append(contentsOf: bytes) }

  /// The content is whole. What was stored before has been invalidated by the POST itself.
  func publish() {
    guard UInt64(content.count) == length,
      let resource = store.resource(
        for: request.key(request.head.target), create: true)
    else { return }
    // Behind the invalidation, which reads the catalogue first, too.
    store.load(resource, on: request.loop.loop) { [self] in
      store.createBody(expected: length, total: length, on: request.loop.loop) { [self] body in
        guard let body else { return request.loop.letGo(of: resource, in: store) }
        keep(in: body, of: resource)
      }
    }
  }

  private func keep(in body: StoredBody, of resource: Resource) {
    do {
      _ = try content.withUnsafeBytes { try body.write($0, at: 0) }
    } catch {
      return body.fail(.notKept)
    }
    let others = resource.withLock { $0.variants + $0.superseded }
    body.addTag(TagRecord(tag: Tags.name(for: answer, beside: others), limit: .max))
    let stored = StoredResponse(head: head, body: body, storedAt: head.responseTime)
    let replaced = resource.withLock { state in
      state.variants.filter { $0.head.isSelected(by: request.head, asksIdentity: request.asksIdentity) }
    }
    store.publish(stored, in: resource, replacing: replaced)
    body.complete()
  }
}
