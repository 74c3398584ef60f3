import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlWire

/// The answer to a POST that says it is what a GET of the same URL would be given (RFC 9110 §9.3.3): it passes to the client
/// as it is, and is kept for those who GET it. Small ones only: there is no fill that could bring the rest of it.
final class KeptPostAnswer {
  /// The longest content kept, in bytes.
  static let limit: UInt64 = 1 << 20

  private let request: IncomingRequest
  private let store: CacheStore
  /// It stays in the index as long as this does.
  private let resource: Resource
  /// The resource's count of invalidations when this was answered.
  private var began: UInt64?
  private var isWhole = false
  private let asSent: RequestHead
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
      request: request.head, response: answer, framing: framing,
      isConditional: request.head.fields.mayContain(anyOf: Self.conditions), policy: request.route.policy,
      receivedAt: now)
    guard storability.isForOthers else { return nil }
    guard let resource = store.resource(for: request.key(request.head.target), create: true) else { return nil }
    resource.withLock { $0.asking += 1 }
    (self.request, self.store, self.resource) = (request, store, resource)
    (self.answer, self.length) = (answer, length)
    // The origin saw the client's own Accept-Encoding.
    asSent = OriginRequests.forwarded(request)
    head = StoredHead(
      request: request.head, asSent: asSent.fields, response: answer, requestTime: requestTime, responseTime: now,
      storability: storability,
      asksIdentity: false)
  }

  deinit {
    resource.withLock { $0.asking -= 1 }
    store.remove(resource)
  }

  private static let conditions = FieldNameSet(OriginRequests.conditions)

  /// What was stored before has been invalidated by the POST itself; what the next one invalidates, this answer belongs to.
  func invalidated() {
    began = resource.withLock { $0.invalidations }
    if isWhole { publish() }
  }

  func append(_ bytes: UnsafeRawBufferPointer) { content.append(contentsOf: bytes) }

  /// The content is whole.
  func ended() {
    isWhole = UInt64(content.count) == length
    if isWhole, began != nil { publish() }
  }

  private func publish() {
    // Behind the invalidation, which reads the catalogue first, too.
    store.load(resource, on: request.loop.loop) { [self] in
      store.createBody(expected: length, total: length, on: request.loop.loop) { [self] body in
        guard let body, began == resource.withLock({ $0.invalidations }) else { return }
        keep(in: body)
      }
    }
  }

  private func keep(in body: StoredBody) {
    do {
      _ = try content.withUnsafeBytes { try body.write($0, at: 0) }
    } catch {
      return body.fail(.notKept)
    }
    let name = resource.withLock { AnswerTags.name(for: answer, beside: $0.responses) }
    body.addTag(TagRecord(tag: name, limit: .max))
    let stored = StoredResponse(head: head, body: body, storedAt: head.responseTime)
    let replaced = resource.withLock { state in
      state.variants.allSelected {
        $0.values(of: request.head, asksIdentity: request.asksIdentity) { asSent.fields }
      } where: {
        $0.head.isSelected(by: request.head, asksIdentity: request.asksIdentity) { asSent.fields }
      }
    }
    store.publish(stored, in: resource, replacing: replaced)
    body.complete()
  }
}
