import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlWire

/// The response to a POST, stored because the response is also valid for a GET of the same URL (RFC 9110 §9.3.3).
///
/// The client gets the response unchanged. Only small responses are stored, because no fill could fetch the rest of a response
/// that broke off.
final class StoredPostResponse {
  /// The longest content that is stored, in bytes.
  static let limit: UInt64 = 1 << 20

  private let request: IncomingRequest
  private let store: CacheStore
  /// The resource; it stays in the index as long as this object lives.
  private let resource: Resource
  /// The resource's number of invalidations, read after the invalidation by this POST; `nil` before.
  private var began: UInt64?
  private var isWhole = false
  private let asSent: RequestHead
  private let head: StoredHead
  private let answer: ResponseHead
  private let length: UInt64
  private var content: [UInt8] = []

  /// Returns `nil` for a response that must not be given to other clients, or that is too long.
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

  /// Called when the POST has invalidated what was stored before. Any later invalidation also makes this response invalid.
  func invalidated() {
    began = resource.withLock { $0.invalidations }
    if isWhole { publish() }
  }

  func append(_ bytes: UnsafeRawBufferPointer) { content.append(contentsOf: bytes) }

  /// Called at the end of the content; publishes the response if its content is complete.
  func ended() {
    isWhole = UInt64(content.count) == length
    if isWhole, began != nil { publish() }
  }

  private func publish() {
    // The resource has to be loaded from the catalogue first. The invalidation before this step may have loaded it already.
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
