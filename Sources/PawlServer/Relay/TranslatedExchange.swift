import PawlCache
import PawlCacheStore
import PawlHTTP
import PawlLoop

/// An unsafe request with a condition on a tag that pawl minted: the tag is replaced by the origin's validator of the same body,
/// and the request goes on like any other. If the validator has to be read from disk, the request's content waits.
final class TranslatedExchange: Exchange {
  private let request: IncomingRequest
  private let channel: any ResponseChannel
  private let store: CacheStore
  /// Makes the exchange for the request with the translated conditions.
  private let then: (IncomingRequest) -> any Exchange
  private var next: (any Exchange)?
  private var pending: [UInt8] = []
  private var end: Fields?
  private var isOver = false

  init(
    _ request: IncomingRequest, channel: any ResponseChannel, store: CacheStore,
    then: @escaping (IncomingRequest) -> any Exchange
  ) {
    (self.request, self.channel, self.store, self.then) = (request, channel, store, then)
  }

  func start() {
    guard let resource = store.resource(for: request.key(request.head.target), create: false) else { return goOn(nil) }
    guard resource.withLock({ $0.isLoaded }) else {
      return store.load(resource, on: request.loop.loop) { [weak self] in self?.goOn(resource) }
    }
    goOn(resource)
  }

  private func goOn(_ resource: Resource?) {
    guard !isOver else { return }
    guard let fields = MintedConditions.ofUnsafe(request.head.fields, known: { resource?.known(by: $0) }) else {
      channel.drainRequestBody()
      pending = []
      return channel.reply(Replies.preconditionFailed())
    }
    let translated = request.with(fields: fields)
    channel.goesOn(as: translated)
    let next = then(translated)
    self.next = next
    next.start()
    feed()
  }

  /// Passes on the content that came before the next exchange was made.
  private func feed() {
    guard let next, !isOver else { return }
    let bytes = pending
    pending = []
    let takesMore = bytes.isEmpty || bytes.withUnsafeBytes { next.requestBody($0) }
    if let end { return next.requestBodyEnded(end) }
    if takesMore, !bytes.isEmpty { channel.resumeRequestBody() }
  }

  func requestBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let next { return next.requestBody(bytes) }
    // The response has been given already.
    if channel.hasResponded { return true }
    pending.append(contentsOf: bytes)
    return false
  }

  func requestBodyEnded(_ trailers: Fields) { next.map { $0.requestBodyEnded(trailers) } ?? (end = trailers) }

  var contentPassedOn: UInt64? { next?.contentPassedOn }

  func clientLeft() {
    isOver = true
    next?.clientLeft()
  }

  func responseSent() {
    isOver = true
    next?.responseSent()
  }
}

extension Resource {
  /// The origin's validators of the body that a tag names.
  func known(by tag: EntityTag) -> MintedConditions.Known? {
    withLock { state in
      state.responses.first { $0.isNamed(by: tag) }.map { MintedConditions.Known($0.head) }
    }
  }
}

extension StoredResponse {
  /// Whether the opaque part of a tag names the complete body, or a complete coded form of it.
  func isNamed(by tag: EntityTag) -> Bool {
    body.tagLimit(tag.opaque) == .max || body.form(namedBy: tag.opaque)?.limit == .max
  }
}
