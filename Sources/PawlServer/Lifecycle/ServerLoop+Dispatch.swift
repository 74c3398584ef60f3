import PawlCache
import PawlHTTP
import PawlLoop
import PawlUpload

/// Chooses the kind of exchange that answers a request, from the request's head and its route's settings. The choice is made
/// once.
extension ServerLoop: RequestDispatch {
  func serve(_ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after opening: Opening?) {
    if let opening { connections.remove(opening) }
    if facts.tls?.applicationProtocol.elementsEqual("h2".utf8) == true {
      return startHTTP2(HTTP2Connection(stream: stream, facts: facts, listener: listener, connections: connections))
    }
    let connection = HTTP1Connection(stream: stream, facts: facts, listener: listener, connections: connections)
    connections.add(connection)
    connection.start()
    if connections.isDraining { connection.drain() }
  }

  func serveHTTP2(
    _ stream: SocketStream, _ facts: ClientFacts, on listener: ListenerOnLoop, after connection: any ServedConnection,
    _ received: [UInt8]
  ) {
    connections.remove(connection)
    startHTTP2(
      HTTP2Connection(stream: stream, facts: facts, listener: listener, connections: connections, received: received))
  }

  private func startHTTP2(_ connection: HTTP2Connection) {
    connections.add(connection)
    connection.start()
    if connections.isDraining { connection.drain() }
  }

  func connectionEnded() { if services.isEnding { server.drained(self) } }

  func makeExchange(for request: IncomingRequest, channel: any ResponseChannel) -> any Exchange {
    let (head, router) = (request.head, services.router)
    guard !request.facts.isMisdirected(head.authority) else {
      return ReplyExchange(Replies.misdirected(), request, channel)
    }
    guard request.isRouted || router.uploadRoute(authority: head.authority, target: head.target) != nil else {
      return ReplyExchange(Replies.noSite(head.authority), request, channel)
    }
    if router.urls.isDisguised(head.target) { return ReplyExchange(Replies.noUpload(), request, channel) }
    if MaxForwards.isOver(head) {
      return ReplyExchange(head.method == .options ? Replies.options() : Replies.noTrace(), request, channel)
    }
    if head.method == .options, head.target.equals("*") { return ReplyExchange(Replies.options(), request, channel) }
    let isRead = head.method.isRetrieval && head.framing == .none
    if !isRead, let cache = request.route.cache, MintedConditions.areThere(in: head.fields) {
      return TranslatedExchange(request, channel: channel, store: cache) { [unowned self] translated in
        makeRouted(translated, isRead: false, channel)
      }
    }
    return makeRouted(request, isRead: isRead, channel)
  }

  private func makeRouted(_ request: IncomingRequest, isRead: Bool, _ channel: any ResponseChannel) -> any Exchange {
    let head = request.head
    if let exchange = makeUploadExchange(for: request, isRead: isRead, channel) { return exchange }
    let options = HopByHop.connectionOptions(head.fields)
    if isRead, !(options.upgrade && head.fields.contains(.upgrade)) {
      if let cache = request.route.cache {
        request.explain("way", "a download through the cache")
        return DownloadExchange(counted(request, channel), channel: channel, store: cache, downloads: downloads)
      }
      request.explain("way", "no cache on this route (cache = off)")
      if head.method == .get { return UncachedExchange(request, channel: channel) }
    } else {
      request.explain(
        "way", "passed on: \(isRead ? "it asks for an upgrade" : "its method or content is not that of a download")")
    }
    return ForwardExchange(request, channel: channel, why: isRead ? .bypass : .method)
  }

  private static let uncounted = FieldNameSet([.cookie, .ifMatch])

  /// Returns the request as it is used on a route with a cache: without ignored cookies, and without `If-Match` if pawl evaluates
  /// that field.
  private func counted(_ request: IncomingRequest, _ channel: any ResponseChannel) -> IncomingRequest {
    guard request.head.fields.mayContain(anyOf: Self.uncounted) else { return request }
    let counted = request.withoutCookies().takingMatch()
    if counted !== request { channel.goesOn(as: counted) }
    return counted
  }

  // MARK: - Uploads

  /// Makes the exchange for a request that is about an upload, or whose content is spooled first (UploadProtocols, "Dispatch
  /// order"). Returns `nil` for any other request. Cheap for a GET or HEAD outside of the upload prefix.
  private func makeUploadExchange(
    for request: IncomingRequest, isRead: Bool, _ channel: any ResponseChannel
  ) -> (any Exchange)? {
    let head = request.head
    if let route = services.router.uploadRoute(authority: head.authority, target: head.target) {
      request.route = route
      request.isBelowPrefix = true
    }
    if isRead, !request.isBelowPrefix { return nil }
    guard let settings = request.route.uploads ?? joining(request) else {
      request.explain("upload", "none: this route has uploads = off")
      return spooled(request, channel)
    }
    let kind = UploadDispatch.kind(of: head, settings.dispatch)
    request.explain("upload", UploadExplanation.text(kind, head, settings.dispatch))
    switch kind {
    case .plain: return spooled(request, channel)
    case .foreign: return nil
    case .small:
      request.hidesUploadFields = true
      return spooled(request, channel)
    case .creation(let creation, let dialect):
      return UploadExchange(.creation(creation), dialect, request, channel: channel, deliveries: uploads)
    case .resource(let token, let command, let dialect):
      return UploadExchange(.resource(token, command), dialect, request, channel: channel, deliveries: uploads)
    case .refused(let refusal, let dialect, let token):
      return UploadExchange(.refused(refusal, token), dialect, request, channel: channel, deliveries: uploads)
    case .discovery: return OptionsExchange(request, channel: channel)
    }
  }

  /// Whether the request appends content to an existing upload.
  func appends(_ head: RequestHead) -> Bool {
    guard
      let uploads = services.router.uploadRoute(authority: head.authority, target: head.target)?.uploads,
      case .resource(_, .append, _) = UploadDispatch.kind(of: head, uploads.dispatch)
    else { return false }
    return true
  }

  /// Returns the upload settings for a concatenation whose parts pawl has (tus 1.0.0), even where the route takes no new uploads:
  /// the origin does not have these parts.
  private func joining(_ request: IncomingRequest) -> UploadRoute? {
    guard !services.router.urls.isEmpty, let urls = TusRequest.parts(request.head),
      let part = urls.lazy.compactMap({ self.services.router.findPart($0) }).first,
      let spool = services.router.held.spool(of: part)
    else { return nil }
    request.route = services.router.held.route(
      request.route, finishing: part.origin.prefix ?? UploadURLs.usual, in: spool, lending: request.route)
    return request.route.uploads
  }

  private func spooled(_ request: IncomingRequest, _ channel: any ResponseChannel) -> (any Exchange)? {
    guard let spool = request.route.plainSpool, SpooledForwardExchange.takes(request.head) else { return nil }
    return SpooledForwardExchange(request, channel: channel, spool: spool, maxUpload: request.route.maxUpload)
  }
}
